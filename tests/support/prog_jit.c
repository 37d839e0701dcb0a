/* SPDX-License-Identifier: MIT */
/*
 * Writes code into anonymous memory and runs it: code that is in no file. The
 * system call behind it is where a decoder without that code finds its way again.
 */
#include <sys/mman.h>

#include "prog.h"

PROG_START;

int prog_main(int argc, char **argv)
{
	/* lea 1(%rdi), %eax; jmp +0; ret */
	static const unsigned char code[] = { 0x8d, 0x47, 0x01, 0xeb, 0x00, 0xc3 };
	volatile unsigned char *p;
	int (*f)(int);
	size_t i;

	(void)argc;
	(void)argv;
	p = (unsigned char *)sys6(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < sizeof(code); i++)
		p[i] = code[i];
	f = (int (*)(int))(uintptr_t)p;
	if (f(1) != 2 || f(2) != 3)
		return 1;
	SAY("done\n");
	sys_exit(0); /* no return: its address, compressed, would be lost with the gap */
}
