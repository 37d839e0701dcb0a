/* SPDX-License-Identifier: MIT */
#include "cli/common/selection_args.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { PERCENT = 1000, WHOLE = 100 * PERCENT };

/* Larger numbers are typing errors. */
enum { SHARDS_MAX = 1000000 };

/* Parse a decimal number with up to @digits decimals, in units of the last decimal. */
static bool take_decimal(const char **s, int digits, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;
	bool point = false, any = false;

	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || (point && !digits))
			break;
		any = true;
		digits -= point;
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	}
	for (; digits; digits--)
		if (__builtin_mul_overflow(v, 10u, &v))
			return false;
	*s = p;
	*ret = v;
	return any;
}

static bool take_id(const char **s, int32_t *ret)
{
	uint64_t v;

	if (!take_decimal(s, 0, &v) || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

bool ptc_id_list_parse(struct ptc_id_list *l, const char *arg)
{
	struct ptc_id_range r;
	void *p = l->ranges;
	bool good;

	for (;; arg++) {
		if (!take_id(&arg, &r.first))
			return false;
		r.last = r.first;
		if (*arg == '-' && (arg++, !take_id(&arg, &r.last) || r.last < r.first))
			return false;
		good = ptc_vec_reserve(&p, &l->cap, l->n + 1, sizeof(r));
		l->ranges = p;
		if (!good)
			return false;
		l->ranges[l->n++] = r;
		if (*arg != ',')
			return !*arg;
	}
}

void ptc_id_list_release(struct ptc_id_list *l)
{
	free(l->ranges);
	*l = (struct ptc_id_list){ NULL, 0, 0 };
}

bool ptc_take_ids(const char *s, void *list)
{
	return ptc_id_list_parse(list, s);
}

bool ptc_time_choice_parse(const char *arg, struct ptc_time_choice *ret)
{
	struct ptc_time_choice c = { .percent = strchr(arg, '%') != NULL, .to = UINT64_MAX };
	const char *from = arg;

	if (c.percent) {
		if (!take_decimal(&arg, 3, &c.from) || *arg++ != '%' || *arg++ != '-' ||
		    !take_decimal(&arg, 3, &c.to) || *arg++ != '%' || c.to > WHOLE)
			return false;
	} else {
		if (*arg != ',' && !take_decimal(&arg, 9, &c.from))
			return false;
		if (*arg++ != ',' || (*arg && !take_decimal(&arg, 9, &c.to)) || !from[1])
			return false;
	}
	*ret = c;
	return !*arg && c.from <= c.to;
}

static uint64_t share(uint64_t whole, uint64_t percent)
{
	return whole / WHOLE * percent + whole % WHOLE * percent / WHOLE;
}

int ptc_time_choice_apply(const struct ptc_time_choice *c, struct ptc_decode *d,
			  struct ptc_err *err)
{
	uint64_t first, last, from, to;
	int r;

	if (!c->percent)
		return ptc_decode_choose_time(d, c->from, c->to, err);
	r = ptc_decode_get_times(d, &first, &last, err);
	if (r < 0)
		return r;
	/* Items at both ends may have no time, or a time after the last TSC packet. */
	from = c->from ? first + share(last - first, c->from) : 0;
	to = c->to < WHOLE ? first + share(last - first, c->to) : UINT64_MAX;
	return ptc_decode_choose_time(d, from, to, err);
}

bool ptc_take_shard(const char *s, void *ret)
{
	uint64_t i, n;

	if (!take_decimal(&s, 0, &i) || *s++ != '/' || !take_decimal(&s, 0, &n) || *s || !i ||
	    i > n || n > SHARDS_MAX)
		return false;
	*(struct ptc_shard_choice *)ret = (struct ptc_shard_choice){ (uint32_t)i, (uint32_t)n };
	return true;
}

bool ptc_take_axis(const char *s, void *ret)
{
	const bool time = !strcmp(s, "time");

	if (!time && strcmp(s, "insns") != 0)
		return false;
	*(enum ptc_axis *)ret = time ? PTC_AXIS_TIME : PTC_AXIS_INSNS;
	return true;
}

/* Each thread needs memory, so their number has a limit. Includes the printing thread. */
unsigned int ptc_default_jobs(void)
{
	enum { JOBS_MAX = 16 };
	cpu_set_t set;
	int n = JOBS_MAX; /* default: there are more CPUs than a set can hold */

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	return n < JOBS_MAX ? (unsigned int)n : JOBS_MAX;
}
