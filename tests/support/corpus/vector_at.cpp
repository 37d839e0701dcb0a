// SPDX-License-Identifier: MIT
// Reads behind the end of a vector with at(). Nothing catches the exception.
#include <cstdio>
#include <vector>

struct table {
	std::vector<int> rows{ 1, 2, 3 };
	int row(size_t n) const
	{
		return rows.at(n);
	}
};

static int sum(const table &t, size_t n)
{
	int s = 0;
	for (size_t i = 0; i <= n; i++)
		s += t.row(i);
	return s;
}

int main(int argc, char **)
{
	table t;
	printf("%d\n", sum(t, argc + 2));
}
