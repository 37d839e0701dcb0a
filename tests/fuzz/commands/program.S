/* SPDX-License-Identifier: MIT */
/* The bytes of pt_code (tests/support/lib_pt.h), each with a source line. Never run. */
	.text
	.globl code_start
	.type code_start, @function
code_start:
	je 1f
	nop
1:	jmp 2f
	nop
2:	call called
	jmp *%rax
	nop
3:	call *%rax
	je 4f
4:	loop 3b
	rep movsb
	syscall
	int3
	int $0x80
	iretq
	sysretq
	lretq
	ud2
	.size code_start, . - code_start
	.type called, @function
called:
	nop
	ret
5:	jmp 5b
6:	call 7f
7:	jmp 6b
8:	dec %eax
	je 9f
	call 8b
9:	ret
	.size called, . - called
	.section .note.GNU-stack, "", @progbits
