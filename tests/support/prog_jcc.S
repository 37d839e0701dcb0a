/* SPDX-License-Identifier: MIT */
/*
 * Conditional branches, and branches to the next instruction: a jcc there is
 * never listed, whether it was taken or not; a jmp or call there always is.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xor	%ebx, %ebx
again:	cmp	$2, %ebx		/* below, equal, above in turn */
	.irp	cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	j\cc	1f			/* both ways, short */
	lea	(%rax), %rax
1:
	.endr
	.irp	op, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f
	.byte	0x0f, \op		/* near, six bytes, over a nop */
	.long	1
	nop
	.endr
zeros:	.irp	op, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f
	.byte	\op, 0			/* jcc +0 */
	.endr
	inc	%ebx
	cmp	$5, %ebx
	jne	again

	.byte	0xeb, 0			/* jmp +0, short and near */
	.byte	0xe9, 0, 0, 0, 0
	call	1f			/* call +0: how position independent code once found itself */
1:	pop	%rax

	mov	$5, %ecx		/* loop to itself */
2:	loop	2b
	mov	$5, %ecx
loop0:	.byte	0xe2, 0			/* loop +0: taken four times, never listed */
	test	%ecx, %ecx
	jnz	loop0
	mov	$3, %ecx
	xor	%eax, %eax
4:	test	%eax, %eax		/* ZF */
	loope	4b
	mov	$3, %ecx
5:	cmp	$7, %eax		/* not ZF */
	loopne	5b
	mov	$3, %ecx
	cmp	%eax, %eax
	loopne	5b			/* not taken: ZF */
loopd0:	.byte	0x67			/* counts in ecx; +0, taken */
	loop	6f
6:	xor	%ecx, %ecx
	jrcxz	7f
	hlt
7:	jecxz	8f
	hlt
8:
rcxz0:	.byte	0xe3, 0			/* jrcxz +0, taken */
	inc	%ecx
	jrcxz	trap			/* not taken */
	.byte	0xe3, 0			/* jrcxz +0, not taken */
	movabs	$0x100000000, %rcx
	jrcxz	trap			/* not zero in 64 bits */
	jecxz	9f			/* zero in 32 */
trap:	hlt
9:	call	10f			/* call +0, really returned from later */
10:	incl	count(%rip)
	cmpl	$2, count(%rip)
	je	11f
	ret
11:	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.data
	.balign	4
count:	.long	0
	.section .note.GNU-stack, "", @progbits
