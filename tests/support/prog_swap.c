/* SPDX-License-Identifier: MIT */
/*
 * Different code at one address, alternating: the functions of two libraries.
 *
 * dlopen LIB LIB   by the loader, which finds the hole left by the other library
 * map LIB LIB      by mmap, and executable by mprotect only
 * over LIB LIB     by mmap over the other library
 *
 * Prints "same" if the address was the same each time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 3, PAGE = 4096, CODE = 16 };

union answer {
	void *p;
	int (*f)(int);
};

static union answer find(void *lib)
{
	union answer a = { lib ? dlsym(lib, "lib_answer") : NULL };

	if (!a.p)
		fprintf(stderr, "%s\n", dlerror());
	return a;
}

/* Returns the answer of @path; 0: none. *@where: the library's address. */
static int by_loader(const char *path, uintptr_t *where)
{
	void *lib = dlopen(path, RTLD_NOW);
	union answer a = find(lib);
	struct link_map *map;
	int r;

	if (!a.p || dlinfo(lib, RTLD_DI_LINKMAP, &map))
		return 0;
	*where = map->l_addr;
	r = a.f(20);
	(void)dlclose(lib);
	return r;
}

/* Returns the offset of lib_answer in its file; -1: not found. Copies its code to @code. */
static long offset_of(const char *path, char *code)
{
	void *lib = dlopen(path, RTLD_NOW);
	union answer a = find(lib);
	Dl_info info;
	long off;

	if (!a.p || !dladdr(a.p, &info))
		return -1;
	off = (const char *)a.p - (const char *)info.dli_fbase; /* ELF headers are at base */
	memcpy(code, a.p, CODE);
	(void)dlclose(lib);
	return off;
}

/*
 * As by_loader, with the code at *@where, or anywhere if that is 0. @over: executable at once, and
 * left mapped for the next call.
 */
static int by_hand(const char *path, uintptr_t *where, int over)
{
	const int fixed = over ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	char code[CODE];
	const long off = offset_of(path, code);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	union answer a;
	char *p;
	int r;

	if (off < 0 || fd < 0)
		return 0;
	p = mmap((void *)*where, PAGE, over ? PROT_READ | PROT_EXEC : PROT_READ,
		 MAP_PRIVATE | (*where ? fixed : 0), fd, off & -PAGE);
	(void)close(fd);
	if (p == MAP_FAILED || memcmp(p + off % PAGE, code, CODE))
		return 0;
	if (!over && mprotect(p, PAGE, PROT_READ | PROT_EXEC))
		return 0;
	a.p = p + off % PAGE;
	r = a.f(20);
	if (!over)
		(void)munmap(p, PAGE);
	*where = (uintptr_t)p;
	return r;
}

int main(int argc, char **argv)
{
	uintptr_t first = 0, where = 0;
	int i, same = 1;

	if (argc != 4)
		return 2;
	for (i = 0; i < 2 * ROUNDS; i++) {
		const char *path = argv[2 + i % 2];
		const int r = strcmp(argv[1], "dlopen") ?
				      by_hand(path, &where, !strcmp(argv[1], "over")) :
				      by_loader(path, &where);

		if (r != 41)
			return 1;
		if (!first)
			first = where;
		same &= where == first;
	}
	puts(same ? "same" : "different");
	return 0;
}
