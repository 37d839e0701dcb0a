/* SPDX-License-Identifier: MIT */
/*
 * Runs 32-bit code in a 64-bit process, through a far jump there and a far jump back, while another
 * thread waits in read. Linked at fixed addresses below 4 GB.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *reader(void *arg)
{
	char c = 0;

	(void)arg;
	return read(ends[0], &c, 1) == 1 && c == 'x' ? arg : NULL;
}

unsigned int run_32(void);
__asm__(".text\n"
	"run_32:	xor	%ecx, %ecx\n"
	"		mov	%rsp, stack(%rip)\n" /* 32-bit code keeps only its low half */
	"		ljmp	*to_32(%rip)\n"
	"		.code32\n"
	"in_32:		mov	$3, %ecx\n"
	"		dec	%ecx\n" /* 48 would be REX in 64-bit code */
	"		.byte	0x49\n" /* dec %ecx */
	"		ljmp	$0x33, $in_64\n"
	"		.code64\n"
	"in_64:		mov	stack(%rip), %rsp\n"
	"		mov	%ecx, %eax\n"
	"		ret\n"
	"		.data\n"
	"stack:		.quad	0\n"
	"to_32:		.long	in_32\n"
	"		.word	0x23\n"
	"		.text\n");

int main(void)
{
	pthread_t thread;
	void *got = NULL;
	int here;

	if (pipe(ends) || pthread_create(&thread, NULL, reader, &here))
		return 9;
	printf("in 64 bits\n");
	fflush(stdout);
	printf("32 bits gave %u\n", run_32());
	if (write(ends[1], "x", 1) != 1 || pthread_join(thread, &got))
		return 8;
	return got == &here ? 6 : 7;
}
