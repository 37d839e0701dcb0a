/* SPDX-License-Identifier: MIT */
/*
 * Calls 100 deep, from two places: the processor's stack of return addresses
 * holds 64, so the outer returns cannot be compressed. Then come returns that
 * do not match their calls.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$100, %edi
	call	down
	mov	$64, %edi		/* exactly the stack's size, and one more */
	call	down
	mov	$65, %edi
	call	down
	call	skip			/* returns behind the nop */
	nop
	lea	2f(%rip), %rax		/* a return without a call */
	push	%rax
	ret
	hlt
2:	call	lift			/* its call stays on the processor's stack */
	mov	$10, %edi
	call	down
	call	inner			/* unwinds two calls at once */
	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.type	down, @function
down:	dec	%edi
	jz	1f
	test	$1, %edi
	jz	2f
	call	down
	ret
2:	call	down
	nop
1:	ret
	.size	down, . - down

	.type	skip, @function
skip:	incq	(%rsp)
	ret
	.size	skip, . - skip

	.type	lift, @function
lift:	pop	%rax
	jmp	*%rax
	.size	lift, . - lift

	.type	inner, @function
inner:	call	1f
	hlt
1:	add	$8, %rsp
	ret
	.size	inner, . - inner

	.section .note.GNU-stack, "", @progbits
