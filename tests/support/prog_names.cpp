// SPDX-License-Identifier: MIT
// C++ names, a call through the PLT, a function with two names, and a function only in assembly.
#include <cstdio>

namespace names
{

struct shape {
	int side;
	__attribute__((noinline)) int area(int times) const;
	__attribute__((noinline)) int operator()(const char *s);
};

int shape::area(int times) const
{
	__asm__ volatile("");
	return side * side * times;
}

int shape::operator()(const char *s)
{
	__asm__ volatile("");
	return side + s[0];
}

template <class T, unsigned N> __attribute__((noinline)) T sum(const T (&list)[N])
{
	T all = 0;

	__asm__ volatile("");
	for (T one : list)
		all += one;
	return all;
}

} // namespace names

extern "C" {
__attribute__((noinline)) int twice(int n)
{
	__asm__ volatile("");
	return 2 * n;
}
int __twice(int n) __attribute__((alias("twice")));
int weak_twice(int n) __attribute__((weak, alias("twice")));
int by_hand(int n);
}

// Labels without a size: inside a function with a size, and outside.
__asm__(".text\n"
	".globl by_hand\n"
	".type by_hand, @function\n"
	"by_hand:\n"
	"	mov %edi, %eax\n"
	"inner_label:\n"
	"	add $1, %eax\n"
	"	call nobodys\n"
	"	ret\n"
	".size by_hand, . - by_hand\n"
	"nobodys:\n"
	"	ret\n");

int main(int argc, char **argv)
{
	const int list[3] = { 1, 2, argc };
	names::shape s = { argc };
	int n = s.area(2) + s(argv[0]) + names::sum(list) + weak_twice(argc) + by_hand(argc);

	std::puts("named");
	return n < 0;
}
