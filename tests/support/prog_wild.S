/* SPDX-License-Identifier: MIT */
/* Jumps to an address without code, and dies there: the jump retired, its target never did. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$2, %ecx
1:	loop	1b
	mov	$0xdead000, %eax
	jmp	*%rax
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
