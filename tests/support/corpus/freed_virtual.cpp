// SPDX-License-Identifier: MIT
// Calls a virtual function of a freed object, whose memory has another use now.
#include <cstdlib>
#include <cstring>
#include <memory>

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
	int size = 0;
};

struct square : shape {
	int area() const override
	{
		return size * size;
	}
};

static shape *volatile kept;

static void replace()
{
	delete kept;
	void *other = malloc(sizeof(square));
	memset(other, 0x41, sizeof(square));
	asm volatile("" : : "r"(other) : "memory");
}

template <typename F> static int each(F f)
{
	return f(kept) + 1;
}

int main()
{
	kept = new square;
	replace();
	return each([](shape *s) { return s->area(); });
}
