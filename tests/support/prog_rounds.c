/* SPDX-License-Identifier: MIT */
/*
 * prog_rounds: string instructions with millions of rounds: forwards and backwards,
 * one that ends early, one that faults a few times (its handler maps the page, and
 * it continues), and one under a timer. Single-stepping it round by round takes
 * minutes.
 */
#include "prog.h"

PROG_START;

enum { SIZE = 4 << 20, PAGE = 4096, SIGSEGV_ = 11, SIGALRM_ = 14 };

static unsigned char *area, *later;
static volatile int faults, alarms;

static void on_fault(int sig, void *info, void *context)
{
	const unsigned long at = *(unsigned long *)((char *)info + 16); /* si_addr */

	(void)sig;
	(void)context;
	faults++;
	sys3(SYS_mprotect, (long)(at & ~0xffful), PAGE, 3);
}

static void on_alarm(int sig, void *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	alarms++;
}

static void fill(unsigned char *to, int c, unsigned long n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
}

static void copy(unsigned char *to, const unsigned char *from, unsigned long n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void copy_back(unsigned char *to, const unsigned char *from, unsigned long n)
{
	to += n - 1;
	from += n - 1;
	__asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static unsigned long length(const unsigned char *s)
{
	unsigned long n = -1ul;

	__asm__ volatile("repne scasb" : "+D"(s), "+c"(n) : "a"(0) : "memory", "cc");
	return ~n - 1;
}

int prog_main(int argc, char **argv)
{
	const struct {
		long interval_s, interval_us, value_s, value_us;
	} often = { 0, 2000, 0, 2000 }, off = { 0, 0, 0, 0 };
	unsigned long i, bad = 0;

	(void)argc;
	(void)argv;
	area = (unsigned char *)sys6(SYS_mmap, 0, 2 * SIZE, 3, 0x22, -1, 0);
	later = (unsigned char *)sys6(SYS_mmap, 0, 8 * PAGE, 0, 0x22, -1, 0);
	sys_handle(SIGSEGV_, on_fault, 0);
	sys_handle(SIGALRM_, on_alarm, 0);
	fill(area, 7, SIZE);
	copy(area + SIZE, area, SIZE);
	area[SIZE - 1] = 0;
	bad += length(area) != SIZE - 1;
	copy_back(area + 1, area, SIZE);
	fill(later, 9, 8 * PAGE);
	for (i = 0; i < 8 * PAGE; i += 64)
		bad += later[i] != 9;
	bad += faults != 8;
	sys3(SYS_setitimer, 0, (long)&often, 0);
	for (i = 0; i < 1000000 && alarms < 20; i++)
		fill(area, 5, SIZE);
	sys3(SYS_setitimer, 0, (long)&off, 0);
	bad += alarms < 20 || area[SIZE - 1] != 5;
	if (bad)
		SAY("bad\n");
	else
		SAY("good\n");
	return bad ? 1 : 7;
}
