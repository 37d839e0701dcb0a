/* SPDX-License-Identifier: MIT */
#include "capture/soft/lbr_fault_injection.h"

#include <string.h>

#include <linux/perf_event.h>

enum {
	FLIPPED = 23, /* one of this many lowest bits of an address is flipped */
	TYPES = 11,   /* PERF_BR_COND to PERF_BR_COND_RET */
};

void ptc_spoiler_init(struct ptc_spoiler *s, const struct ptc_lbr_spoil *opts)
{
	*s = (struct ptc_spoiler){ .opts = *opts, .state = opts->seed };
}

/* splitmix64 by Steele, Lea and Flood (2014): any seed is good. */
static uint64_t draw_random(struct ptc_spoiler *s)
{
	uint64_t z = s->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool same(const struct ptc_branch *a, const struct ptc_branch *b)
{
	return a->from == b->from && a->to == b->to;
}

static size_t note_changed_entry(struct ptc_spoilt *ret, uint32_t i, const struct ptc_branch *e)
{
	*ret = (struct ptc_spoilt){ i, e->from, e->to };
	return 1;
}

static size_t spoil_address(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t n,
			    struct ptc_spoilt *ret)
{
	const uint32_t i = (uint32_t)(draw_random(s) % n);
	const uint64_t flip = UINT64_C(1) << draw_random(s) % FLIPPED;
	const size_t k = note_changed_entry(ret, i, &e[i]);

	if (s->opts.mode == PTC_SPOIL_TARGET)
		e[i].to ^= flip;
	else
		e[i].from ^= flip;
	return k;
}

static void remove_entry(struct ptc_branch *e, uint32_t *n, uint32_t i)
{
	--*n;
	memmove(&e[i], &e[i + 1], (*n - i) * sizeof(*e));
}

/* Drops an entry. Not the newest or the oldest: such a loss cannot be detected. */
static size_t drop_lbr_entry(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t *n,
			     struct ptc_spoilt *ret)
{
	const uint32_t i = *n > 2 ? 1 + (uint32_t)(draw_random(s) % (*n - 2)) : 0;
	size_t k;

	if (!i)
		return 0;
	k = note_changed_entry(ret, i, &e[i]);
	remove_entry(e, n, i);
	return k;
}

/* Duplicates the newest entry. The oldest is removed for it. */
static size_t duplicate_top(struct ptc_branch *e, uint32_t n, struct ptc_spoilt *ret)
{
	uint32_t i = 1;

	while (i < n && same(&e[0], &e[i]))
		i++;
	if (i == n) /* all entries are equal: nothing would change */
		return 0;
	memmove(&e[1], &e[0], (n - 1) * sizeof(*e));
	return note_changed_entry(ret, 0, &e[0]);
}

static size_t swap(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t n, struct ptc_spoilt *ret)
{
	const uint32_t i = n > 1 ? (uint32_t)(draw_random(s) % (n - 1)) : 0;
	struct ptc_branch first;

	if (n < 2 || same(&e[i], &e[i + 1]))
		return 0;
	(void)note_changed_entry(&ret[0], i, &e[i]);
	(void)note_changed_entry(&ret[1], i + 1, &e[i + 1]);
	first = e[i];
	e[i] = e[i + 1];
	e[i + 1] = first;
	return 2;
}

static size_t shift(const struct ptc_spoiler *s, struct ptc_branch *e, uint32_t *n,
		    struct ptc_spoilt *ret)
{
	const uint32_t by = s->opts.shift;
	uint32_t i;

	if (*n <= by)
		return 0;
	for (i = 0; i < by; i++)
		(void)note_changed_entry(&ret[i], i, &e[i]);
	*n -= by;
	memmove(e, e + by, *n * sizeof(*e));
	return by;
}

static size_t make_stale(struct ptc_branch *e, uint32_t n, const struct ptc_branch *other,
			 uint32_t nother, struct ptc_spoilt *ret)
{
	size_t k = 0;
	uint32_t i;

	if (n <= PTC_SPOIL_STALE || nother < PTC_SPOIL_STALE)
		return 0;
	for (i = 0; i < PTC_SPOIL_STALE; i++) {
		struct ptc_branch *old = &e[n - PTC_SPOIL_STALE + i];

		if (!same(old, &other[i]))
			k += note_changed_entry(&ret[k], (uint32_t)(old - e), old);
		*old = other[i];
	}
	return k;
}

/* Changes the type of an entry. Without save_type the entries have no type to change. */
static size_t spoil_type(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t n,
			 struct ptc_spoilt *ret)
{
	const uint32_t i = (uint32_t)(draw_random(s) % n);
	uint8_t *type = &e[i].type;

	if (*type == PERF_BR_UNKNOWN)
		return 0;
	if (s->opts.mode == PTC_SPOIL_FLAG)
		*type = PERF_BR_UNKNOWN;
	else
		*type = (uint8_t)((*type + draw_random(s) % (TYPES - 1)) % TYPES + 1);
	return note_changed_entry(ret, i, &e[i]);
}

size_t ptc_spoiler_take(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t *n,
			const struct ptc_branch *other, uint32_t nother,
			struct ptc_spoilt ret[PTC_LBR_SHIFT_MAX])
{
	if (s->opts.mode == PTC_SPOIL_NONE || draw_random(s) % s->opts.rate || !*n)
		return 0;
	switch (s->opts.mode) {
	case PTC_SPOIL_TARGET:
	case PTC_SPOIL_SOURCE:
		return spoil_address(s, e, *n, ret);
	case PTC_SPOIL_DROP:
		return drop_lbr_entry(s, e, n, ret);
	case PTC_SPOIL_TOP:
		return duplicate_top(e, *n, ret);
	case PTC_SPOIL_SWAP:
		return swap(s, e, *n, ret);
	case PTC_SPOIL_SHIFT:
		return shift(s, e, n, ret);
	case PTC_SPOIL_STALE_OLDEST:
		return make_stale(e, *n, other, nother, ret);
	case PTC_SPOIL_TYPE:
	case PTC_SPOIL_FLAG:
		return spoil_type(s, e, *n, ret);
	default:
		return 0;
	}
}
