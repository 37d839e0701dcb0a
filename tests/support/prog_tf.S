/* SPDX-License-Identifier: MIT */
/*
 * The trap flag: pushf of both sizes and r11 must not show a debugger's flag.
 * A flag set by the program itself gives it a SIGTRAP after each instruction.
 * Exit status: 0 success, 1.. a failed check of the flags, 100 + n a wrong
 * count of traps.
 */
	.set	SYS_rt_sigaction, 13
	.set	SYS_rt_sigreturn, 15
	.set	SYS_getpid, 39
	.set	SYS_kill, 62
	.set	SYS_exit_group, 231
	.set	SIGTRAP, 5
	.set	SIGUSR1, 10
	.set	TF, 0x100

	/* No TF in the word on the stack; the flags stay unchanged. */
	.macro	look	code
	mov	$\code, %edi
	testl	$TF, (%rsp)
	jnz	fail
	.endm

	.bss
	.lcomm	count, 4
	.lcomm	codes, 4
	.lcomm	wrong, 4
	.lcomm	expected, 8

	.text
	.globl	_start
	.type	_start, @function
_start:
	pushfq
	look	1
	popfq
	pushfq
	look	2
	pushfw
	testw	$TF, (%rsp)
	mov	$3, %edi
	jnz	fail
	popfw
	pushfw
	testw	$TF, (%rsp)
	mov	$4, %edi
	jnz	fail
	add	$2, %rsp
	popfq
	mov	$SYS_getpid, %eax
	syscall
	mov	$5, %edi
	test	$TF, %r11d
	jnz	fail
	/* flags loaded by iretq: goes to the next instruction */
	mov	%rsp, %rbx
	mov	%ss, %eax
	push	%rax
	push	%rbx
	pushfq
	mov	%cs, %eax
	push	%rax
	lea	1f(%rip), %rax
	push	%rax
	iretq
1:	pushfq
	look	6
	popfq
	/* a signal frame */
	mov	$SIGUSR1, %edi
	lea	on_usr1(%rip), %rsi
	call	handle
	mov	$SYS_getpid, %eax
	syscall
	mov	%eax, %edi
	mov	$SIGUSR1, %esi
	mov	$SYS_kill, %eax
	syscall
	mov	$7, %edi
	cmpl	$0, wrong(%rip)
	jnz	fail
	pushfq
	look	8
	popfq

	/* the program's own flag */
	mov	$SIGTRAP, %edi
	lea	on_trap(%rip), %rsi
	call	handle
	pushfq
	orl	$TF, (%rsp)
	popfq
	nop				/* 1 */
	lea	1f(%rip), %rax		/* 2 */
1:	xor	%ecx, %ecx		/* 3 */
	mov	$3, %cl			/* 4 */
2:	loop	2b			/* 5 6 7 */
	pushfq				/* 8 */
	pop	%rbx			/* 9 */
	mov	$SYS_getpid, %eax	/* 10 */
	syscall				/* no SIGTRAP of its own */
	mov	%r11, %r12		/* 11 */
	call	3f			/* 12 */
	jmp	4f			/* 14 */
3:	ret				/* 13 */
4:	mov	$2, %ecx		/* 15 */
	lea	spare(%rip), %rdi	/* 16 */
	rep stosb			/* 17 18: each round */
	pushfq				/* 19 */
	andl	$~TF, (%rsp)		/* 20 */
	popfq				/* 21 */
	nop
	mov	count(%rip), %edi
	add	$100, %edi
	cmp	$121, %edi
	jne	fail
	mov	$9, %edi
	cmpl	$0, wrong(%rip)		/* a code or an address was not as it must be */
	jne	fail
	mov	$10, %edi
	test	$TF, %ebx		/* must see its own TF */
	jz	fail
	pushfq
	look	11
	popfq
	xor	%edi, %edi
fail:	mov	$SYS_exit_group, %eax
	syscall
	hlt
	.size	_start, . - _start

	/* edi: signal, rsi: handler; no flags, empty mask */
	.type	handle, @function
handle:
	sub	$40, %rsp
	mov	%rsi, (%rsp)
	movq	$0x04000004, 8(%rsp)	/* SA_RESTORER | SA_SIGINFO */
	lea	restorer(%rip), %rax
	mov	%rax, 16(%rsp)
	movq	$0, 24(%rsp)
	mov	%rsp, %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	mov	$SYS_rt_sigaction, %eax
	syscall
	add	$40, %rsp
	ret
	.size	handle, . - handle

	/* The frame has no TF, and neither has the handler. */
	.type	on_usr1, @function
on_usr1:
	testl	$TF, 176(%rdx)		/* eflags of the ucontext */
	jz	1f
	incl	wrong(%rip)
1:	pushfq
	pop	%rax
	test	$TF, %eax
	jz	1f
	incl	wrong(%rip)
1:	ret
	.size	on_usr1, . - on_usr1

	/* si_code TRAP_TRACE, si_addr and the frame's rip the same, TF in the frame but for the last */
	.type	on_trap, @function
on_trap:
	incl	count(%rip)
	cmpl	$2, 8(%rsi)
	je	1f
	incl	wrong(%rip)
1:	mov	16(%rsi), %rax
	cmp	168(%rdx), %rax		/* rip of the ucontext */
	je	1f
	incl	wrong(%rip)
1:	pushfq
	pop	%rax
	test	$TF, %eax
	jz	1f
	incl	wrong(%rip)
1:	ret
	.size	on_trap, . - on_trap

	.type	restorer, @function
restorer:
	mov	$SYS_rt_sigreturn, %eax
	syscall
	.size	restorer, . - restorer

	.bss
	.lcomm	spare, 8
	.section .note.GNU-stack, "", @progbits
