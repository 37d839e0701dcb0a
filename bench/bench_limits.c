/* SPDX-License-Identifier: MIT */
/*
 * Limits of this machine, for bench/all: how fast one thread reads memory, copies memory, and
 * writes to a file with write(2). Each value is the median of ROUNDS rounds over a block of 256
 * MiB, which is larger than the caches. The pages of memory exist before the first round. The file
 * is new in each round, so its pages are new, as they are for a recording.
 *
 *	bench_limits [FOLDER]	(default: .)
 *
 * Prints "read N", "copy N" and "write N", in MB/s (1e6 bytes). A copied byte counts once.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 256 << 20, PART = 1 << 20, ROUNDS = 3 };

static char path[4096];

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *block(void)
{
	void *p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	must(p != MAP_FAILED, "mmap");
	memset(p, 0x5a, BLOCK);
	return p;
}

/* Eight sums: an addition does not wait for the previous addition. */
static void read_block(void *to, const void *from)
{
	const uint64_t *words = from;
	uint64_t sums[8] = { 0 };
	size_t i, k;

	for (i = 0; i < BLOCK / sizeof(*words); i += 8)
		for (k = 0; k < 8; k++)
			sums[k] += words[i + k];
	memcpy(to, sums, sizeof(sums)); /* the compiler keeps the sums */
}

static void copy_block(void *to, const void *from)
{
	memcpy(to, from, BLOCK);
}

/* The file has no name, so that nothing stays if the program is killed. */
static void write_block(void *to, const void *from)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t at;

	(void)to;
	must(fd >= 0 && !unlink(path), path);
	for (at = 0; at < BLOCK; at += PART)
		must(write(fd, (const uint8_t *)from + at, PART) == PART, path);
	must(!close(fd), path);
}

static void measure(const char *name, void (*work)(void *, const void *), void *to,
		    const void *from)
{
	double seconds[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		const double begin = now();

		work(to, from);
		seconds[i] = now() - begin;
	}
	qsort(seconds, ROUNDS, sizeof(*seconds), by_value);
	printf("%s %.0f\n", name, BLOCK / 1e6 / seconds[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	void *from, *to;

	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fputs("usage: bench_limits [FOLDER]\n", stderr);
		return 2;
	}
	(void)snprintf(path, sizeof(path), "%s/bench_limits.%ld", argc > 1 ? argv[1] : ".",
		       (long)getpid());
	from = block();
	to = block();
	measure("read", read_block, to, from);
	measure("copy", copy_block, to, from);
	measure("write", write_block, to, from);
	return 0;
}
