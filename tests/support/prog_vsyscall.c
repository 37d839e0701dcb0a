/* SPDX-License-Identifier: MIT */
/*
 * Calls into the vsyscall page, whose bytes cannot be read. They return to a plain instruction, a
 * ret, a jump and a system call. With vsyscall=none the calls fault, and the handler does the
 * return. The output is the same in both cases.
 */
#include "prog.h"

PROG_START;

enum { SIGSEGV_ = 11 };

static volatile int faults, calls;
static volatile long result;

static void on_segv(int sig, void *info, void *context)
{
	uint64_t *const rip = prog_saved_rip(context), *const rsp = rip - 1;

	(void)sig;
	(void)info;
	*rip = *(uint64_t *)*rsp;
	*rsp += 8;
	faults++;
}

void to_ret(uint64_t to, void *arg);
void to_jmp(uint64_t to, void *arg);
long to_syscall(uint64_t to, void *arg);
__asm__(".text\n"
	"to_ret:	call	1f\n"
	"		ret\n"
	"1:		mov	%rdi, %rax\n"
	"		mov	%rsi, %rdi\n"
	"		xor	%esi, %esi\n"
	"		jmp	*%rax\n" /* returns to the ret above */
	"to_jmp:	mov	%rdi, %rax\n"
	"		mov	%rsi, %rdi\n"
	"		xor	%esi, %esi\n"
	"		call	*%rax\n"
	"		jmp	1f\n"
	"		hlt\n"
	"1:		ret\n"
	"to_syscall:	mov	%rdi, %rax\n"
	"		mov	%rsi, %rdi\n"
	"		xor	%esi, %esi\n"
	"		call	*%rax\n" /* the call gave 0, or is absent: rax is 0, so this is
					    read(0, 0, 0) */
	"		syscall\n"
	"		ret\n");

int prog_main(int argc, char **argv)
{
	const uint64_t gettimeofday = 0xffffffffff600000, time = 0xffffffffff600400;
	long tv[2] = { 0, 0 }, real[2] = { 0, 0 }, t = 0;

	(void)argc;
	(void)argv;
	sys_handle(SIGSEGV_, on_segv, 0);
	to_ret(gettimeofday, tv);
	to_jmp(time, &t);
	(void)to_syscall(gettimeofday, tv);
	to_jmp(gettimeofday, (void *)16); /* a bad pointer: SIGSEGV inside the page */
	sys3(SYS_gettimeofday, (long)real, 0, 0);
	if (faults == 4) /* vsyscall=none */
		tv[0] = t = real[0];
	else if (faults != 1)
		return 2;
	if (tv[0] > real[0] || tv[0] + 5 < real[0] || t > real[0] || t + 5 < real[0])
		return 1;
	SAY("right\n");
	return 0;
}
