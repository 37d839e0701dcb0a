/* SPDX-License-Identifier: MIT */
/* prog_rare N: thirty calls from different places, each of which makes N jumps. */
#include "prog.h"

PROG_START;

__asm__(".text\n.type turn, @function\nturn:\n"
	"	mov %rdi, %rcx\n"
	"1:	dec %rcx\n"
	"	jnz 1b\n"
	"	ret\n"
	".size turn, . - turn\n"
	".type turns, @function\nturns:\n"
	"	.rept 30\n"
	"	call turn\n"
	"	.endr\n"
	"	ret\n"
	".size turns, . - turns\n");
void turns(long n);

int prog_main(int argc, char **argv)
{
	long n = 0;
	const char *s;

	for (s = argc > 1 ? argv[1] : "1000"; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (*s - '0');
	turns(n);
	return 7;
}
