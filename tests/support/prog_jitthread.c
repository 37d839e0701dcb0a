/* SPDX-License-Identifier: MIT */
/*
 * One thread writes code while another one runs the code written before: two pages of one mapping,
 * alternating.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, TIMES = 50 };

static unsigned char *pages;
static pthread_barrier_t turn;
static int bad;

/* mov $n, %eax; n % 4 times jmp to the next instruction; ret */
static void write_code(unsigned char *p, int n)
{
	static const unsigned char jmp[] = { 0xeb, 0 };
	int i;

	*p++ = 0xb8;
	memcpy(p, &n, 4);
	p += 4;
	for (i = 0; i < n % 4; i++, p += 2)
		memcpy(p, jmp, 2);
	*p = 0xc3;
}

static int run(const unsigned char *p)
{
	int (*f)(void);

	memcpy(&f, &p, sizeof(f));
	return f();
}

static void *runner(void *arg)
{
	int n;

	for (n = 0; n < TIMES; n++) {
		pthread_barrier_wait(&turn);
		if (run(pages + n % 2 * PAGE) != n || run(pages + n % 2 * PAGE) != n)
			bad = 1;
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	int n;

	pages = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || pthread_barrier_init(&turn, NULL, 2))
		return 2;
	write_code(pages, 0);
	if (pthread_create(&thread, NULL, runner, NULL))
		return 2;
	for (n = 0; n < TIMES; n++) {
		pthread_barrier_wait(&turn); /* version n runs, n + 1 gets written */
		write_code(pages + (n + 1) % 2 * PAGE, n + 1);
	}
	(void)pthread_join(thread, NULL);
	puts(bad ? "bad" : "good");
	return bad;
}
