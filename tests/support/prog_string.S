/* SPDX-License-Identifier: MIT */
/*
 * String instructions: each retires once, for any number of repetitions. With
 * every valid prefix, with length 0, stopped early by a comparison - and REP
 * prefixes on other instructions.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	cld
	.irp	count, 0, 1, 2, 9
	mov	$\count, %ecx
	call	buffers
	rep movsb
	mov	$\count, %ecx
	call	buffers
	rep movsw
	mov	$\count, %ecx
	call	buffers
	rep movsl
	mov	$\count, %ecx
	call	buffers
	rep movsq
	mov	$\count, %ecx
	call	buffers
	rep stosb
	mov	$\count, %ecx
	call	buffers
	rep stosq
	mov	$\count, %ecx
	call	buffers
	rep lodsb
	mov	$\count, %ecx
	call	buffers
	repe cmpsb			/* the buffers differ at their fifth byte */
	mov	$\count, %ecx
	call	buffers
	repne scasb
	mov	$\count, %ecx
	call	buffers
	.byte	0x67, 0xf3, 0xa4	/* 32-bit addresses and count */
	mov	$\count, %ecx
	call	buffers
	.byte	0xf3, 0x67, 0x66, 0xa5
	mov	$\count, %ecx
	call	buffers
	.byte	0x66, 0xf3, 0xab
	mov	$\count, %ecx
	call	buffers
	.byte	0x3e, 0xf3, 0x48, 0xa5	/* a segment, then REP, then REX.W */
	mov	$\count, %ecx
	call	buffers
	.byte	0xf2, 0xa4		/* REPNE does the same before movs */
	.endr

	std				/* backwards */
	mov	$4, %ecx
	lea	from+16(%rip), %rsi
	lea	to+16(%rip), %rdi
	rep movsb
	cld
	call	buffers			/* one after the other, no REP */
	movsb
	movsb
	stosb
	cmpsb
	.byte	0xf3, 0x90		/* pause */
	.byte	0xf3, 0x0f, 0x1e, 0xfa	/* endbr64 */
	.byte	0xf3, 0x0f, 0xb8, 0xc1	/* popcnt */
	mov	$3, %ecx
1:	call	buffers			/* the same instruction, reached by a jump */
	push	%rcx
	mov	$3, %ecx
	rep movsb
	pop	%rcx
	dec	%ecx
	jnz	1b
	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.type	buffers, @function
buffers:
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	.byte	0xf3			/* repz ret: no string instruction */
	ret
	.size	buffers, . - buffers

	.data
from:	.ascii	"0123456789abcdef"
	.zero	128
to:	.ascii	"0123x56789abcdef"
	.zero	128
	.section .note.GNU-stack, "", @progbits
