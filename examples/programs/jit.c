/* SPDX-License-Identifier: MIT */
/*
 * jit: writes a function into memory, calls it, changes the function and calls it again.
 * traces/ has a recording of this program.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int generated(void);

/* mov $n,%eax; test %eax,%eax; je 1f; ret; 1: dec %eax; ret */
static void generate(uint8_t *to, uint8_t n)
{
	const uint8_t code[] = { 0xb8, n, 0, 0, 0, 0x85, 0xc0, 0x74, 0x01, 0xc3, 0xff, 0xc8, 0xc3 };

	memcpy(to, code, sizeof(code));
}

static int run(const uint8_t *code)
{
	generated *f;

	memcpy(&f, &code, sizeof(f));
	return f();
}

int main(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int first, second;

	if (code == MAP_FAILED)
		return 1;
	generate(code, 7);
	first = run(code);
	generate(code, 0);
	second = run(code);
	printf("%d %d\n", first, second);
	return 0;
}
