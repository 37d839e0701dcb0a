/* SPDX-License-Identifier: MIT */
/* Dies from SIGSEGV, two calls deep, at a read. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$3, %ecx
1:	loop	1b
	call	outer
	hlt
	.size	_start, . - _start
	.type	outer, @function
outer:	call	inner
	ret
	.size	outer, . - outer
	.type	inner, @function
inner:	xor	%eax, %eax
	mov	(%rax), %rbx
	ret
	.size	inner, . - inner
	.section .note.GNU-stack, "", @progbits
