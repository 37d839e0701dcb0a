/* SPDX-License-Identifier: MIT */
/* Every near indirect branch: jump table, register, memory, tail calls, ret n; and far branches. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xor	%ebx, %ebx
next:	lea	table(%rip), %rax	/* a jump table, as for a switch */
	movslq	(%rax,%rbx,4), %rcx
	add	%rcx, %rax
	jmp	*%rax
case0:	lea	leaf(%rip), %rax
	call	*%rax
	jmp	join
case1:	call	*vector(%rip)
	jmp	join
case2:	lea	vector(%rip), %rdx
	call	*8(%rdx)
	jmp	join
case3:	call	tail
join:	inc	%ebx
	cmp	$4, %ebx
	jb	next
	push	$1			/* the callee's argument, popped by ret 8 */
	call	popper
	lea	1f(%rip), %rax		/* indirect, to the next instruction */
	jmp	*%rax
1:	lea	2f(%rip), %rax
	push	%rax
	lea	vector(%rip), %rdx
	jmp	*16(%rdx)		/* a jump into a function that returns to 2 */
2:	mov	%cs, %eax		/* far return to the same segment */
	push	%rax
	lea	3f(%rip), %rcx
	push	%rcx
	lretq
	hlt
3:	mov	%rsp, %rdx		/* iret, without a change of level */
	mov	%ss, %eax
	push	%rax
	push	%rdx
	pushfq
	andl	$~0x100, (%rsp)		/* clears a stepper's trap flag */
	mov	%cs, %eax
	push	%rax
	lea	4f(%rip), %rcx
	push	%rcx
	iretq
	hlt
4:	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.type	leaf, @function
leaf:	nop
	ret
	.size	leaf, . - leaf

	.type	other, @function
other:	call	leaf
	repz ret			/* the two-byte return */
	.size	other, . - other

	.type	tail, @function
tail:	lea	leaf(%rip), %rax
	jmp	*%rax
	.size	tail, . - tail

	.type	popper, @function
popper:	ret	$8
	.size	popper, . - popper

	.section .rodata
	.balign	4
table:	.long	case0 - table, case1 - table, case2 - table, case3 - table

	.data
	.balign	8
vector:	.quad	leaf, other, leaf
	.section .note.GNU-stack, "", @progbits
