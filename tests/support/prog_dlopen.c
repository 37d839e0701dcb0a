/* SPDX-License-Identifier: MIT */
/* prog_dlopen LIB: loads a library, calls and unloads it, then loads the library again. */
#include <dlfcn.h>
#include <stdio.h>

static int use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	union {
		void *p;
		int (*f)(int);
	} sym;
	int r;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	sym.p = dlsym(lib, "lib_answer");
	r = sym.p ? sym.f(20) : -1;
	dlclose(lib);
	return r;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return use(argv[1]) == 41 && use(argv[1]) == 41 ? 0 : 1;
}
