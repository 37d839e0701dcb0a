/* SPDX-License-Identifier: MIT */
/* A minimal program: a loop, a call, output, exit status 0. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	mov	$10, %ebx
1:	call	twice
	dec	%ebx
	jnz	1b
	mov	$1, %eax		/* write */
	mov	$1, %edi
	lea	text(%rip), %rsi
	mov	$(text_end - text), %edx
	syscall
	mov	$231, %eax		/* exit_group */
	xor	%edi, %edi
	syscall
	.size	_start, . - _start

	.type	twice, @function
twice:
	test	$1, %bl
	jz	1f
	nop
1:	ret
	.size	twice, . - twice

	.section .rodata
text:	.ascii	"hello\n"
text_end:
	.section .note.GNU-stack, "", @progbits
