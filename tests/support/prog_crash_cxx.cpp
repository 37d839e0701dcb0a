// SPDX-License-Identifier: MIT
// prog_crash_cxx MODE [core]: kills itself in ways of C++ programs. See prog_crash.c.
#include <cassert>
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/resource.h>

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
};

struct square : shape {
	int side = 3;
	int area() const override
	{
		return side * side;
	}
};

__attribute__((noinline)) static int use(const shape *s)
{
	return s->area(); // DIES: vtable
}

// Freed memory is reused at once.
static const shape *stale()
{
	const shape *volatile s = new square;

	delete s;
	volatile char *other = static_cast<volatile char *>(::operator new(sizeof(square)));
	for (size_t i = 0; i < sizeof(square); i++)
		other[i] = 0x5a;
	return s;
}

__attribute__((noinline)) static void must_be(int n)
{
	assert(n == 4); // DIES: assert
}

__attribute__((noinline)) static void throws()
{
	throw std::runtime_error("nobody catches it"); // DIES: throw
}

int main(int argc, char **argv)
{
	const rlimit none = { 0, 0 };

	if (argc < 2)
		return 2;
	if (strcmp(argv[argc - 1], "core") != 0)
		setrlimit(RLIMIT_CORE, &none);
	if (!strcmp(argv[1], "vtable"))
		return use(stale());
	if (!strcmp(argv[1], "assert"))
		must_be(argc);
	if (!strcmp(argv[1], "throw"))
		throws();
	return 0;
}
