/* SPDX-License-Identifier: MIT */
/*
 * smash: copies too many bytes into a buffer on the stack, and so overwrites its own return
 * addresses. A debugger that reads this stack finds no caller. The trace still has every caller.
 * Build without -fstack-protector. README.md records this program.
 */
#include <stddef.h>

static void copy(volatile char *to, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = 'A';
}

static void parse_header(size_t n)
{
	volatile char name[16];

	copy(name, n);
}

static void handle_request(size_t n)
{
	parse_header(n);
}

int main(void)
{
	handle_request(8);
	handle_request(64);
	return 0;
}
