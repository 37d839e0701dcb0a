// SPDX-License-Identifier: MIT
// Reads a mapping behind the end of its file: SIGBUS.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int first(const char *page)
{
	return page[0] + page[1];
}

__attribute__((noinline)) static int count(const char *map, int pages)
{
	int n = 0;

	for (int i = 0; i < pages; i++)
		n += first(map + i * 4096);
	return n;
}

int main(void)
{
	FILE *f = tmpfile();
	char *map;

	if (!f || ftruncate(fileno(f), 8192))
		return 1;
	map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(f), 0);
	if (map == MAP_FAILED || ftruncate(fileno(f), 4096))
		return 1;
	return count(map, 2);
}
