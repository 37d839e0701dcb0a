/* SPDX-License-Identifier: MIT */
/* An exception through frames with destructors, caught, rethrown, and caught again. */
#include <cstdio>
#include <stdexcept>

namespace
{

struct noisy {
	int n;
	~noisy()
	{
		std::printf("destroyed %d\n", n);
	}
};

/* Code after the call keeps the call from becoming a jump: each level is a frame to unwind. */
__attribute__((noinline)) void fall(int n)
{
	noisy local{ n };

	if (!n)
		throw std::runtime_error("deep");
	fall(n - 1);
	std::printf("never\n");
}

__attribute__((noinline)) void pass_on()
{
	noisy local{ 10 };

	try {
		fall(3);
	} catch (const std::exception &e) {
		std::printf("caught %s\n", e.what());
		throw;
	}
}

} // namespace

int main()
{
	try {
		pass_on();
	} catch (const std::runtime_error &e) {
		std::printf("again %s\n", e.what());
		return 5;
	}
	return 0;
}
