// SPDX-License-Identifier: MIT
// prog_crash_cxx MODE: what kills a program of C++. See prog_crash.c.
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
	int area() const override { return side * side; }
};

static char room[sizeof(square)] alignas(square);

__attribute__((noinline)) static int use(const shape *s)
{
	return s->area(); // DIES: vtable
}

static shape *stale()
{
	shape *s = new (room) square;

	s->~shape();
	memset(room, 0x5a, sizeof(room)); // somebody else has the memory
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

	setrlimit(RLIMIT_CORE, &none);
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "vtable"))
		return use(stale());
	if (!strcmp(argv[1], "assert"))
		must_be(argc);
	if (!strcmp(argv[1], "throw"))
		throws();
	return 0;
}
