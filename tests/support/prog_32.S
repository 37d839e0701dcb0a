/* SPDX-License-Identifier: MIT */
/*
 * A 32-bit program (as --32) or an x32 one (as --x32): prints "32", exits with
 * status 5. With an argument, the 32-bit program reads a byte in between.
 */
	.text
	.globl	_start
_start:
#ifdef X32
	mov	$0x40000001, %eax	/* __X32_SYSCALL_BIT + write */
	mov	$1, %edi
	mov	$text, %esi
	mov	$3, %edx
	syscall
	mov	$0x400000e7, %eax
	mov	$5, %edi
	syscall
#else
	mov	$4, %eax
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$3, %edx
	int	$0x80
	cmpl	$1, (%esp)
	je	1f
	mov	$3, %eax
	xor	%ebx, %ebx
	lea	-8(%esp), %ecx
	mov	$1, %edx
	int	$0x80
1:	mov	$1, %eax
	mov	$5, %ebx
	int	$0x80
#endif
	hlt
text:	.ascii	"32\n"
	.section .note.GNU-stack, "", @progbits
