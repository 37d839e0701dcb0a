/* SPDX-License-Identifier: MIT */
/*
 * Code that comes and goes: two pages of this program's own file are mapped executable,
 * one after the other, at the same address. Then a page becomes executable only by
 * mprotect.
 */
#include <sys/mman.h>

#include "prog.h"

PROG_START;

enum { PAGE = 4096 };

/* Two pages with different code at the same offset. */
__asm__(".section .text.pages, \"ax\", @progbits\n"
	".balign 4096\n"
	".globl page_one\n.type page_one, @function\npage_one:\n"
	"	mov %edi, %eax\n"
	"1:	add $1, %eax\n"
	"	dec %edi\n"
	"	jnz 1b\n"
	"	ret\n"
	".size page_one, . - page_one\n"
	".balign 4096\n"
	".globl page_two\n.type page_two, @function\npage_two:\n"
	"	call 2f\n"
	"	ret\n"
	"2:	lea (%rdi,%rdi), %eax\n"
	"	ret\n"
	".size page_two, . - page_two\n"
	".balign 4096\n.text\n");
int page_one(int n);
int page_two(int n);

/* Finds the file offset of this program's text: its headers are mapped at the image's start. */
extern const char __executable_start[];

/* Maps the page of the file that holds @code at @where (0: anywhere). */
static char *map_code(int fd, int (*code)(int), char *where, int prot)
{
	const long off = (const char *)(uintptr_t)code - __executable_start;

	return (char *)sys6(SYS_mmap, (long)where, PAGE, prot,
			    MAP_PRIVATE | (where ? MAP_FIXED : 0), fd, off);
}

int prog_main(int argc, char **argv)
{
	const int fd = (int)sys3(SYS_open, (long)argv[0], 0, 0);
	int (*f)(int);
	char *p, *q;
	int sum;

	(void)argc;
	if (fd < 0)
		return 2;
	p = map_code(fd, page_one, NULL, PROT_READ | PROT_EXEC);
	f = (int (*)(int))(uintptr_t)p;
	sum = f(4);
	map_code(fd, page_two, p, PROT_READ | PROT_EXEC);
	sum += f(5);
	sys3(SYS_munmap, (long)p, PAGE, 0);
	map_code(fd, page_one, p, PROT_READ | PROT_EXEC);
	sum += f(6);

	q = map_code(fd, page_two, NULL, PROT_READ);
	sys3(SYS_mprotect, (long)q, PAGE, PROT_READ | PROT_EXEC);
	f = (int (*)(int))(uintptr_t)q;
	sum += f(7);
	return sum == 8 + 10 + 12 + 14 && page_one(1) == 2 && page_two(1) == 2 ? 0 : 1;
}
