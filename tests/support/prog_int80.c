/* SPDX-License-Identifier: MIT */
/* A system call in the 32-bit way from a 64-bit program: getpid has number 20 there. */
#include <unistd.h>

int main(void)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20L) : "r8", "r9", "r10", "r11", "memory");
	return ret == getpid() ? 0 : 1;
}
