/* SPDX-License-Identifier: MIT */
/*
 * What a debugger's trap flag collides with: a program that reads and writes
 * its flags, and a load of SS, after which the processor holds traps back for
 * one instruction.
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
	jmp	1f			/* a transfer does, too */
	hlt
1:	mov	%eax, %ss
	call	2f
	mov	$231, %eax
	xor	%edi, %edi
	syscall
2:	ret
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
