/* SPDX-License-Identifier: MIT */
/*
 * Code in no file, and code that changes, as JITs and self-patching programs do: prog_jit MODE.
 * Each version of the code takes another path to its return, so that a decode with the wrong
 * version is detected.
 */
#include <sys/mman.h>

#include "prog.h"

PROG_START;

enum { PAGE = 4096, TIMES = 50 };

typedef int code_fn(int);

/* Own text to be patched: a page of the file, with space for a version of the code. */
__asm__(".section .text.own, \"ax\", @progbits\n"
	".balign 4096\n"
	".globl own_text\n.type own_text, @function\nown_text:\n"
	"	jmp 1f\n"
	"1:	mov $1000, %eax\n"
	"	ret\n"
	"	.fill 4000, 1, 0x90\n"
	".size own_text, . - own_text\n"
	".balign 4096\n.text\n");
int own_text(int n);

static void *map(unsigned long pages, int prot)
{
	return (void *)sys6(SYS_mmap, 0, (long)pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
}

static void protect(const volatile void *p, int prot)
{
	sys3(SYS_mprotect, (long)p & -PAGE, PAGE, prot);
}

static unsigned char *put(unsigned char *to, int n, const char *bytes)
{
	int i;

	for (i = 0; i < n; i++)
		*(volatile unsigned char *)to++ = (unsigned char)bytes[i];
	return to;
}

/* Version @n: returns 2 * @n + its argument; n % 5 jumps, then a jump over a nop or none. */
static size_t write_code(unsigned char *p, int n)
{
	unsigned char *const start = p;
	int i;

	p = put(p, 3, "\x8d\x87\0"); /* lea 2 * n(%rdi), %eax, with a 4-byte displacement */
	p[-1] = (unsigned char)(2 * n);
	p = put(p, 3, "\0\0\0");
	for (i = 0; i < n % 5; i++)
		p = put(p, 2, "\xeb\0"); /* jmp to the next instruction */
	if (n % 2)
		p = put(p, 5, "\x85\xff\x75\x01\x90"); /* test %edi, %edi; jnz over nop */
	p = put(p, 1, "\xc3");
	return (size_t)(p - start);
}

static int run(const void *p, int arg)
{
	return ((code_fn *)(uintptr_t)p)(arg);
}

/* A page that is writable and executable, rewritten each time. */
static int mode_rwx(void)
{
	unsigned char *p = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int n, bad = 0;

	for (n = 0; n < TIMES; n++) {
		write_code(p, n);
		bad |= run(p, 1) != 2 * n + 1 || run(p, 0) != 2 * n;
	}
	return bad;
}

/* Like rwx, but never both at once. A neighbour in the same mapping stays unchanged. */
static int mode_flip(void)
{
	unsigned char *p = map(3, PROT_READ | PROT_WRITE);
	int n, bad = 0;

	write_code(p, 3);
	write_code(p + 2 * PAGE, 4);
	sys3(SYS_mprotect, (long)p, 3 * PAGE, PROT_READ | PROT_EXEC);
	for (n = 0; n < TIMES; n++) {
		protect(p + PAGE, PROT_READ | PROT_WRITE);
		write_code(p + PAGE + 64 * (n % 4), n);
		protect(p + PAGE, PROT_READ | PROT_EXEC);
		bad |= run(p + PAGE + 64 * (n % 4), 1) != 2 * n + 1;
		bad |= run(p, 0) != 6 || run(p + 2 * PAGE, 0) != 8;
	}
	return bad;
}

/* Two views of a file without a name: one for writing, one for running. */
static int mode_memfd(int flags)
{
	const int fd = (int)sys3(SYS_memfd_create, (long)"jit", 0, 0);
	unsigned char *w, *x;
	int n, bad = 0;

	sys3(SYS_ftruncate, fd, PAGE, 0);
	w = (unsigned char *)sys6(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	x = (unsigned char *)sys6(SYS_mmap, 0, PAGE, PROT_READ | PROT_EXEC, flags, fd, 0);
	for (n = 0; n < TIMES; n++) {
		write_code(w, n);
		bad |= run(x, 1) != 2 * n + 1;
	}
	return bad;
}

/* The program's own text: as in the file, patched, patched again, and restored. */
static int mode_text(void)
{
	unsigned char *p = (unsigned char *)(uintptr_t)own_text;
	int bad = run(p, 0) != 1000;

	protect(p, PROT_READ | PROT_WRITE | PROT_EXEC);
	write_code(p, 7);
	bad |= run(p, 1) != 15;
	protect(p, PROT_READ | PROT_EXEC);
	bad |= run(p, 0) != 14;
	protect(p, PROT_READ | PROT_WRITE);
	write_code(p, 9);
	protect(p, PROT_READ | PROT_EXEC);
	bad |= run(p, 1) != 19;
	sys3(SYS_madvise, (long)p, PAGE, MADV_DONTNEED);
	bad |= run(p, 0) != 1000;
	return bad;
}

/* An instruction across two pages, each of which changes alone. */
static int mode_cross(void)
{
	unsigned char *p = map(2, PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned char *f = p + PAGE - 4; /* two displacement bytes are in the next page */
	int n, bad = 0;

	for (n = 0; n < TIMES; n++) {
		write_code(f, n);
		bad |= run(f, 1) != 2 * n + 1;
		f[4] = 1; /* + 1 << 16 */
		bad |= run(f, 1) != 2 * n + 1 + (1 << 16);
	}
	/* Also a jump whose target is in the next page. */
	protect(p, PROT_READ | PROT_EXEC);
	protect(p + PAGE, PROT_READ | PROT_EXEC);
	bad |= run(f, 1) != 2 * (TIMES - 1) + 1 + (1 << 16);
	return bad;
}

/* Writes through /proc/self/mem, which needs no PROT_WRITE. */
static int mode_mem(void)
{
	const int fd = (int)sys3(SYS_open, (long)"/proc/self/mem", 2 /* O_RDWR */, 0);
	unsigned char *p = map(1, PROT_READ | PROT_WRITE);
	unsigned char code[32];
	int n, bad = fd < 0;

	write_code(p, 1);
	protect(p, PROT_READ | PROT_EXEC);
	bad |= run(p, 0) != 2;
	for (n = 0; n < TIMES; n++) {
		const size_t len = write_code(code, n);

		sys6(SYS_pwrite64, fd, (long)code, (long)len, (long)p, 0, 0);
		bad |= run(p, 1) != 2 * n + 1;
	}
	return bad;
}

/* A forked child has its own copy: the parent does not see its changes. */
static int mode_fork(void)
{
	unsigned char *p = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int n, bad, status = 0;
	long child;

	write_code(p, 6);
	bad = run(p, 0) != 12;
	child = sys3(SYS_fork, 0, 0, 0);
	if (!child) {
		bad |= run(p, 0) != 12;
		for (n = 0; n < TIMES; n++) {
			write_code(p, n);
			bad |= run(p, 1) != 2 * n + 1;
			sys3(SYS_sched_yield, 0, 0, 0);
		}
		sys_exit(bad);
	}
	for (n = 0; n < TIMES; n++) {
		bad |= run(p, 1) != 13;
		sys3(SYS_sched_yield, 0, 0, 0);
	}
	sys6(SYS_wait4, child, (long)&status, 0, 0, 0, 0);
	return bad || status;
}

/* A page that is executable but not readable. */
static int mode_unreadable(void)
{
	unsigned char *p = map(1, PROT_READ | PROT_WRITE);
	int n, bad = 0;

	for (n = 0; n < 3; n++) {
		protect(p, PROT_READ | PROT_WRITE);
		write_code(p, n);
		protect(p, PROT_EXEC);
		bad |= run(p, 1) != 2 * n + 1;
	}
	return bad;
}

/* Other memory at the same place: by munmap and mmap, and by mremap over it. */
static int mode_remap(void)
{
	unsigned char *p = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned char *q = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
	int bad;

	write_code(p, 1);
	bad = run(p, 0) != 2;
	sys3(SYS_munmap, (long)p, PAGE, 0);
	(void)sys6(SYS_mmap, (long)p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	write_code(p, 2);
	bad |= run(p, 1) != 5;
	write_code(q, 3);
	protect(p, PROT_READ | PROT_EXEC);
	protect(q, PROT_READ | PROT_EXEC);
	bad |= run(q, 1) != 7;
	sys6(SYS_mremap, (long)q, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (long)p, 0);
	bad |= run(p, 0) != 6;
	return bad;
}

/* A function that rewrites itself: the next instruction, in a loop, and one further on. */
static int mode_self(void)
{
	static const char code[] = "\x31\xc0"			  /*  0 xor %eax, %eax */
				   "\xc6\x05\x01\0\0\0\x03"	  /*  2 movb $3, 10(%rip) */
				   "\x04\0"			  /*  9 add $0, %al: now adds 3 */
				   "\x3c\x09"			  /* 11 cmp $9, %al */
				   "\x75\xf3"			  /* 13 jne 2 */
				   "\x66\xc7\x05\x01\0\0\0\xeb\0" /* 15 movw $0xeb, 25(%rip) */
				   "\x90"			  /* 24 nop */
				   "\x90\x90"			  /* 25 two nops: now jmp 27 */
				   "\xc3";			  /* 27 ret */
	unsigned char *p = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);

	put(p, sizeof(code) - 1, code);
	return run(p, 0) != 9;
}

/* The file's bytes without a file: a copy replaces the program's own text. */
static int mode_same(void)
{
	unsigned char *p = (unsigned char *)(uintptr_t)own_text;
	unsigned char *copy = map(1, PROT_READ | PROT_WRITE);
	int i, bad = run(p, 0) != 1000;

	for (i = 0; i < PAGE; i++)
		*(volatile unsigned char *)&copy[i] = p[i];
	sys3(SYS_mprotect, (long)copy, PAGE, PROT_READ | PROT_EXEC);
	sys6(SYS_mremap, (long)copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (long)p, 0);
	return bad || run(p, 0) != 1000;
}

static int is(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

int prog_main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (is(mode, "rwx"))
		return mode_rwx();
	if (is(mode, "flip"))
		return mode_flip();
	if (is(mode, "shared"))
		return mode_memfd(MAP_SHARED);
	if (is(mode, "private"))
		return mode_memfd(MAP_PRIVATE);
	if (is(mode, "text"))
		return mode_text();
	if (is(mode, "cross"))
		return mode_cross();
	if (is(mode, "mem"))
		return mode_mem();
	if (is(mode, "fork"))
		return mode_fork();
	if (is(mode, "unreadable"))
		return mode_unreadable();
	if (is(mode, "remap"))
		return mode_remap();
	if (is(mode, "self"))
		return mode_self();
	if (is(mode, "same"))
		return mode_same();
	return 99;
}
