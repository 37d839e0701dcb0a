// SPDX-License-Identifier: MIT
// Dies in a function that the compiler has inlined into others. tests/e2e/inlined.py builds it.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <vector>

#define INLINED static inline __attribute__((always_inline))
#define CALLED	__attribute__((noinline))

static volatile int *volatile nowhere;
static volatile int sum;

INLINED void store(int x)
{
	*nowhere = x;
}

struct box {
	int value;

	__attribute__((always_inline)) int add(int x)
	{
		store(value + x);
		return value + x;
	}
};

template <class T> INLINED int twice(T f)
{
	f(1);
	f(2);
	return sum;
}

CALLED static int leaf(int x)
{
	sum = sum + x;
	return sum;
}

CALLED static int deep(int x)
{
	box b = { x };

	leaf(x);
	if (x > 6)
		return b.add(leaf(x));
	return x;
}

INLINED int through(int x)
{
	const int r = deep(x) + deep(x + 5);

	return r + sum;
}

CALLED static int middle(const std::vector<int> &v)
{
	std::for_each(v.begin(), v.end(), [](int x) { sum = sum + through(x); });
	return sum;
}

CALLED static void on_usr1(int)
{
	middle({ 1, 2, 3 });
}

INLINED void interrupted()
{
	if (raise(SIGUSR1))
		leaf(1);
}

CALLED static int in_handler(int x)
{
	signal(SIGUSR1, on_usr1);
	interrupted();
	return sum + x;
}

int main(int argc, char **argv)
{
	const std::vector<int> v(3, argc);

	twice([](int x) { leaf(x); });
	if (argv[1] && *argv[1] == 'h')
		return in_handler(argc);
	if (argv[1] && *argv[1] == 'a')
		return twice([](int x) { if (x > 1) abort(); });
	return middle(v) + 1;
}
