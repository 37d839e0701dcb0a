/* SPDX-License-Identifier: MIT */
/*
 * Faults that a handler survives: a bad access, ud2, a division by zero, and a write in the
 * middle of rep stosb. The rep stosb continues at the same place after the handler has mapped the
 * page.
 */
#include <sys/mman.h>

#include "prog.h"

PROG_START;

enum { SIGILL_ = 4, SIGFPE_ = 8, SIGSEGV_ = 11, PAGE = 4096 };

static char *volatile hole;
static volatile int seen;

/* Each of the faulting instructions below has two bytes. */
static void skip(int sig, void *info, void *context)
{
	(void)info;
	seen += sig;
	*prog_saved_rip(context) += 2;
}

static void repair(int sig, void *info, void *context)
{
	(void)info;
	(void)context;
	seen += sig;
	sys3(SYS_mprotect, (long)hole, PAGE, PROT_READ | PROT_WRITE);
}

int prog_main(int argc, char **argv)
{
	char *p;
	long n;

	(void)argc;
	(void)argv;
	sys_handle(SIGSEGV_, skip, 0);
	sys_handle(SIGILL_, skip, 0);
	sys_handle(SIGFPE_, skip, 0);
	__asm__ volatile("xor %%eax, %%eax; movb (%%rax), %%al" ::: "rax", "memory");
	__asm__ volatile("ud2");
	__asm__ volatile("xor %%ecx, %%ecx; xor %%edx, %%edx; div %%ecx" ::: "rax", "rcx", "rdx");
	__asm__ volatile("hlt; nop"); /* privileged: a general protection fault */

	p = (char *)sys6(SYS_mmap, 0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	hole = p + PAGE;
	sys3(SYS_mprotect, (long)hole, PAGE, PROT_NONE);
	sys_handle(SIGSEGV_, repair, 0);
	p += PAGE - 5;
	n = 9;
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"('x') : "memory");
	return seen == 11 + 4 + 8 + 11 + 11 && hole[3] == 'x' && !hole[4] ? 0 : 1;
}
