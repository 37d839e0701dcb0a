// SPDX-License-Identifier: MIT
// prog_signature MODE SEED: kills itself in ways of C++ programs. See prog_signature.c.
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile size_t seed;
static volatile int shared;
static int *volatile nowhere;

#ifdef PADDING
NOINLINE static int pad(int n)
{
	for (int i = 0; i < n; i++)
		shared = shared + i * n;
	return shared;
}
#else
static int pad(int n)
{
	return n;
}
#endif

namespace
{
struct other : std::runtime_error {
	using std::runtime_error::runtime_error;
};

NOINLINE void throws()
{
	shared = pad(3);
	throw std::runtime_error("number " + std::to_string(seed));
}

NOINLINE void throws_other()
{
	shared = pad(4);
	throw other("number " + std::to_string(seed));
}

template <typename T> NOINLINE T get(const std::vector<T> &v)
{
	shared = pad(5);
	return v.at(v.size() + seed);
}

template <typename T> NOINLINE void calls(T f)
{
	shared = pad(6);
	f(seed);
	shared = pad(7);
}
} // namespace

struct shape {
	virtual ~shape() = default;
	virtual int area(int n) const = 0;
};

struct square : shape {
	NOINLINE int area(int n) const override
	{
		shared = pad(n);
		return *nowhere;
	}
};

// The number of a lambda changes if another one comes in front of it.
NOINLINE static void in_lambda()
{
#ifdef PADDING
	calls([](size_t n) NOINLINE { shared = static_cast<int>(n); });
#endif
	calls([](size_t n) NOINLINE { *nowhere = static_cast<int>(n); });
}

NOINLINE static int measures(const shape &s)
{
	return s.area(5) + pad(8);
}

NOINLINE static void grows()
{
	const size_t more = static_cast<size_t>(-1) / 2 - seed;
	std::vector<char> v;

	v.reserve(more);
	shared = static_cast<int>(v.capacity());
}

NOINLINE static void finds(const std::map<std::string, int> &m)
{
	shared = m.at("missing " + std::to_string(seed));
}

int main(int argc, char **argv)
{
	const rlimit none = { 0, 0 };
	const std::string mode = argc > 1 ? argv[1] : "";

	setrlimit(RLIMIT_CORE, &none);
	seed = argc > 2 ? strtoul(argv[2], nullptr, 10) : 0;
	if (mode == "throw")
		throws();
	if (mode == "other")
		throws_other();
	if (mode == "at")
		return get(std::vector<int>{ 1, 2, 3 });
	if (mode == "lambda")
		in_lambda();
	if (mode == "virtual")
		return measures(square());
	if (mode == "length")
		grows();
	if (mode == "map")
		finds({ { "there", 1 } });
	return 0;
}
