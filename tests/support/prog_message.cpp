// SPDX-License-Identifier: MIT
// prog_message MODE [core]: aborts in a way of its runtime, which prints why.
// tests/e2e/crash_message.py builds it.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile size_t big = 64;

struct plain {
	int n = 1;
};

struct derived : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct base_of_none {
	virtual ~base_of_none() = default;
	int n = 3;
};

struct second_base : std::logic_error, base_of_none {
	using std::logic_error::logic_error;
};

struct own_what : std::runtime_error {
	using std::runtime_error::runtime_error;
	const char *what() const noexcept override
	{
		return "of its own";
	}
};

// The compiler does not know what this points to.
static char *volatile out;

NOINLINE static void fail_assert()
{
	assert(big == 0 && "none \"at\" all"); // DIES: assert
}

NOINLINE static void free_invalid()
{
	out = static_cast<char *>(malloc(64)) + 8;
	free(out); // DIES: free
}

NOINLINE static void smash()
{
	char small[8];

	out = small;
	memset(out, 0x41, big); // the canary is checked at the end
} // DIES: stack

NOINLINE static void fortify(const char *from)
{
	char small[8];

	memcpy(small, from, big); // DIES: fortify
	out = small;
	puts(out);
}

NOINLINE static void only_abort()
{
	abort(); // DIES: abort
}

NOINLINE static void throw_one(const std::string &mode)
{
	if (mode == "runtime")
		throw std::runtime_error("boom \xc3\xa4\t\"" + mode + '"'); // DIES: runtime
	if (mode == "derived")
		throw derived("of a derived class"); // DIES: derived
	if (mode == "second")
		throw second_base("of two bases"); // DIES: second
	if (mode == "own")
		throw own_what("of the base"); // DIES: own
	if (mode == "plain")
		throw plain(); // DIES: plain
	if (mode == "string")
		throw "a string"; // DIES: string
	if (mode == "system")
		throw std::system_error(std::make_error_code(std::errc::not_supported),
					"sys"); // DIES: system
	if (mode == "long")
		throw std::runtime_error(std::string(3000, 'x')); // DIES: long
}

NOINLINE static int of_range(const std::vector<int> &v)
{
	return v.at(big); // DIES: range
}

// An unwinder comes here before the program ends, if the compiler is clang.
NOINLINE static void never_throws() noexcept
{
	std::string local(big, 'x');

	throw_one("runtime");
	out = &local[0];
}

NOINLINE static void rethrows()
{
	try {
		throw_one("runtime");
	} catch (...) {
		puts("caught");
		throw; // DIES: rethrown
	}
}

NOINLINE static void throws_kept()
{
	std::exception_ptr kept;

	try {
		throw_one("derived");
	} catch (...) {
		kept = std::current_exception();
	}
	std::rethrow_exception(kept); // DIES: kept
}

NOINLINE static void aborts_in_handler()
{
	try {
		throw_one("runtime");
	} catch (const std::exception &) {
		abort(); // DIES: handler
	}
}

NOINLINE static void terminates()
{
	try {
		throw_one("plain");
	} catch (const plain &) {
	}
	std::terminate(); // DIES: terminate
}

int main(int argc, char **argv)
{
	const rlimit none = { 0, 0 };
	const std::string mode = argc > 1 ? argv[1] : "";

	if (strcmp(argv[argc - 1], "core") != 0)
		setrlimit(RLIMIT_CORE, &none);
	if (mode == "assert")
		fail_assert();
	if (mode == "free")
		free_invalid();
	if (mode == "stack")
		smash();
	if (mode == "fortify")
		fortify(argv[0]);
	if (mode == "abort")
		only_abort();
	if (mode == "range")
		return of_range({ 1, 2, 3 });
	if (mode == "noexcept")
		never_throws();
	if (mode == "rethrown")
		rethrows();
	if (mode == "kept")
		throws_kept();
	if (mode == "handler")
		aborts_in_handler();
	if (mode == "terminate")
		terminates();
	if (mode == "thread")
		std::thread(throw_one, "runtime").join();
	throw_one(mode);
	return 0;
}
