// SPDX-License-Identifier: MIT
// Throws an exception that is not caught. tests/e2e/unwound.py builds it.
#include <stdexcept>
#include <string>
#include <vector>

__attribute__((noinline)) static void leaf(int n)
{
	if (n)
		throw std::runtime_error("nobody catches " + std::to_string(n));
}

__attribute__((noinline)) static int mid(int n)
{
	std::vector<int> v(static_cast<size_t>(n), n);

	leaf(n);
	return v[0] + 1;
}

int main(int argc, char **)
{
	return mid(argc) + 1;
}
