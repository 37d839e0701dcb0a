// SPDX-License-Identifier: MIT
// A destructor aborts while an exception unwinds the stack.
#include <cstdlib>
#include <exception>
#include <stdexcept>

struct guard {
	int depth;
	~guard()
	{
		if (std::uncaught_exceptions() && depth == 2)
			abort();
	}
};

__attribute__((noinline)) static int down(int n)
{
	guard g{ n };
	if (n > 4)
		throw std::runtime_error("deep");
	return down(n + 1) + g.depth;
}

int main()
{
	try {
		return down(0);
	} catch (const std::exception &) {
		return 1;
	}
}
