/* SPDX-License-Identifier: MIT */
/*
 * Code that conflicts with a debugger's trap flag: it reads and writes its
 * flags, and loads SS, after which the processor delays traps by one
 * instruction.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	pushfq
	popfq
	nop
	mov	%ss, %eax
	mov	%eax, %ss
	nop				/* runs in the same step as the load */
	mov	%ss, %eax
	mov	%eax, %ss
	jmp	1f			/* a branch does, too */
	hlt
1:	mov	%eax, %ss
	call	2f
	mov	$231, %eax
	xor	%edi, %edi
	syscall
2:	ret
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
