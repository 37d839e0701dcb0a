/* SPDX-License-Identifier: MIT */
/* Makes the debug information of the seeds' program richer: types, inlined functions, a switch. */
struct point {
	int x, y;
	const char *name;
};

int program_sum(const struct point *points, int n);
int program_pick(int which);

static inline int weight(const struct point *p)
{
	return p->x * 3 + p->y;
}

int program_sum(const struct point *points, int n)
{
	int sum = 0, i;

	for (i = 0; i < n; i++)
		sum += weight(&points[i]);
	return sum;
}

int program_pick(int which)
{
	static const struct point known[] = { { 1, 2, "one" }, { 3, 4, "two" } };

	switch (which) {
	case 0:
		return program_sum(known, 2);
	case 1:
		return weight(&known[1]);
	default:
		return -1;
	}
}
