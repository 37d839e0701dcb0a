/* SPDX-License-Identifier: MIT */
/* Nearly all calls are indirect: virtual functions of alternating classes, and function tables. */
#include <cstddef>

namespace
{

struct shape {
	virtual unsigned int area(unsigned int) const
	{
		return 0;
	}
	virtual unsigned int sum(const shape *const *rest, std::size_t n) const;

protected:
	~shape() = default;
};

struct square final : shape {
	unsigned int area(unsigned int scale) const override
	{
		return scale * scale;
	}
};

struct strip final : shape {
	unsigned int area(unsigned int scale) const override
	{
		return scale & 1 ? 3 * scale : scale;
	}
};

struct pair final : shape {
	const shape *left, *right;

	constexpr pair(const shape *a, const shape *b) : left(a), right(b)
	{
	}
	unsigned int area(unsigned int scale) const override
	{
		return left->area(scale) + right->area(scale + 1);
	}
};

__attribute__((noinline)) unsigned int shape::sum(const shape *const *rest, std::size_t n) const
{
	return n ? area(static_cast<unsigned int>(n)) + rest[0]->sum(rest + 1, n - 1) : area(1);
}

using step = unsigned int (*)(unsigned int);

unsigned int twice(unsigned int x)
{
	return 2 * x;
}

unsigned int more(unsigned int x)
{
	return x + 7;
}

constexpr square s{};
constexpr strip t{};
constexpr pair p(&s, &t), q(&p, &p);
constexpr const shape *shapes[] = { &s, &t, &p, &q, &t, &q, &s, &p };
constexpr step steps[] = { twice, more, more, twice, more };

} // namespace

int main()
{
	volatile unsigned int total = 0;

	for (unsigned int i = 0; i < 60; i++) {
		total = total + shapes[i % 8]->sum(shapes, i % 8) + steps[i % 5](i);
	}
	return total == 0;
}
