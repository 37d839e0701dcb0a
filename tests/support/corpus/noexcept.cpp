// SPDX-License-Identifier: MIT
// An exception leaves a function that is noexcept.
#include <stdexcept>
#include <string>

__attribute__((noinline)) static int parse(const std::string &text)
{
	if (text.size() > 3)
		throw std::invalid_argument("too long: " + text);
	return text.size();
}

__attribute__((noinline)) static int quiet(const std::string &text) noexcept
{
	return parse(text) + 1;
}

int main(int argc, char **)
{
	try {
		return quiet(std::string(argc + 3, 'x'));
	} catch (const std::exception &) {
		return 1;
	}
}
