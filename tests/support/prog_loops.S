/* SPDX-License-Identifier: MIT */
/* Tight loops of one, two and three branches, in sequence and nested. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$300, %ecx		/* one: conditional */
1:	dec	%ecx
	jnz	1b
	mov	$300, %ecx		/* one: loop */
1:	loop	1b
	mov	$200, %ecx		/* two: conditional, direct */
2:	dec	%ecx
	jz	3f
	jnz	4f
	nop
4:	jmp	2b
3:	mov	$200, %ecx		/* two: call, return, and the loop itself: three */
5:	call	leaf
	dec	%ecx
	jnz	5b
	lea	8f(%rip), %rax
	mov	$200, %ecx		/* two: indirect, conditional */
6:	jmp	*%rax
	nop
8:	dec	%ecx
	jnz	6b
	mov	$40, %edx		/* a loop of one inside another */
9:	mov	$5, %ecx
1:	dec	%ecx
	jnz	1b
	dec	%edx
	jnz	9b
	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.type	leaf, @function
leaf:	ret
	.size	leaf, . - leaf

	.section .note.GNU-stack, "", @progbits
