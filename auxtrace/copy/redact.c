/* SPDX-License-Identifier: MIT */
#include "auxtrace/copy/redact.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sample.h"
#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "base/sorted.h"
#include "base/vec.h"

/* Addresses [from, to) of a process. */
struct area {
	uint64_t pid, from, to;
};

struct map {
	uint64_t start, end;
	bool is_stack;
};

/* State of one process, while its crash records are read. */
struct state {
	bool open;
	uint64_t pid, random; /* random: AT_RANDOM; 0: not known */
	struct map *maps;     /* owned */
	size_t n, cap;
};

struct ptc_redact {
	const struct ptc_file *f;
	struct area *areas; /* owned; sorted by pid, then address; disjoint */
	size_t n, cap;
};

/* --- finding the areas --- */

static bool add_area(struct ptc_redact *r, uint64_t pid, uint64_t from, uint64_t to)
{
	void *items = r->areas;

	if (!ptc_vec_reserve(&items, &r->cap, r->n + 1, sizeof(*r->areas)))
		return false;
	r->areas = items;
	r->areas[r->n++] = (struct area){ pid, from, to };
	return true;
}

static bool add_map(struct state *s, const struct ptc_crash *c)
{
	static const char stack[] = "[stack]";
	const size_t len = sizeof(stack) - 1;
	void *items = s->maps;

	if (!ptc_vec_reserve(&items, &s->cap, s->n + 1, sizeof(*s->maps)))
		return false;
	s->maps = items;
	s->maps[s->n++] = (struct map){ .start = c->u.map.start,
					.end = c->u.map.end,
					.is_stack = ptc_cur_left(&c->bytes) == len &&
						    !memcmp(c->bytes.pos, stack, len) };
	return true;
}

/* Returns AT_RANDOM of an auxiliary vector of 64-bit words; 0: it has none. */
static uint64_t random_of(struct ptc_cur auxv)
{
	uint64_t type, value;

	while (ptc_cur_le64(&auxv, &type) && ptc_cur_le64(&auxv, &value) && type != AT_NULL)
		if (type == AT_RANDOM)
			return value;
	return 0;
}

/* Add the area of a completely read state. */
static bool close_state(struct ptc_redact *r, struct state *s)
{
	bool any = false, ok = true;
	size_t i;

	if (!s->open)
		return true;
	s->open = false;
	for (i = 0; i < s->n && s->random; i++)
		if (s->random >= s->maps[i].start && s->random < s->maps[i].end)
			return add_area(r, s->pid, s->random, s->maps[i].end);
	for (i = 0; i < s->n && ok; i++) {
		if (!s->maps[i].is_stack)
			continue;
		any = true;
		ok = add_area(r, s->pid, s->maps[i].start, s->maps[i].end);
	}
	return ok && (any || add_area(r, s->pid, 0, UINT64_MAX));
}

static bool collect_crash_record(struct ptc_redact *r, struct state *s, const struct ptc_crash *c)
{
	switch (c->kind) {
	case PTC_CRASH_SIGNAL:
		if (!close_state(r, s))
			return false;
		s->open = true;
		s->pid = c->u.signal.pid;
		s->random = 0;
		s->n = 0;
		return true;
	case PTC_CRASH_AUXV:
		s->random = random_of(c->bytes);
		return true;
	case PTC_CRASH_MAP:
		return add_map(s, c);
	default:
		return true;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void merge_areas(struct ptc_redact *r)
{
	size_t i, n = 0;

	if (r->n)
		qsort(r->areas, r->n, sizeof(*r->areas), by_place);
	for (i = 0; i < r->n; i++) {
		const struct area *a = &r->areas[i];
		struct area *last = n ? &r->areas[n - 1] : NULL;

		if (last && last->pid == a->pid && a->from <= last->to)
			last->to = a->to > last->to ? a->to : last->to;
		else
			r->areas[n++] = *a;
	}
	r->n = n;
}

static int look_through(struct ptc_redact *r, struct state *s, struct ptc_err *err)
{
	struct ptc_crash c;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(r->f, &pos, &rec, err)) == 1) {
		const int is = ptc_crash_parse(&rec, &c, err);

		if (is < 0)
			return ptc_file_err_name(r->f, err);
		if (is && !collect_crash_record(r, s, &c))
			return ptc_fail_mem(err);
	}
	return rc || close_state(r, s) ? rc : ptc_fail_mem(err);
}

int ptc_redact_new(const struct ptc_file *f, struct ptc_redact **ret, struct ptc_err *err)
{
	struct ptc_redact *r = calloc(1, sizeof(*r));
	struct state s = { .open = false };
	int rc;

	if (!r)
		return ptc_fail_mem(err);
	r->f = f;
	rc = look_through(r, &s, err);
	free(s.maps);
	if (rc) {
		ptc_redact_free(r);
		return rc;
	}
	merge_areas(r);
	*ret = r;
	return 0;
}

void ptc_redact_free(struct ptc_redact *r)
{
	if (r)
		free(r->areas);
	free(r);
}

/* --- zeroing --- */

/* A record or feature, and its changed copy in @b. */
struct change {
	const uint8_t *was;
	size_t len;
	struct ptc_buf *b;
	uint64_t zeroed;
};

/* Set @bytes, which lie inside the record or feature, to zero. */
static void zero(struct change *c, struct ptc_cur bytes)
{
	const size_t len = ptc_cur_left(&bytes);
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < len; i++)
		n += bytes.pos[i] != 0;
	if (!n)
		return;
	if (!c->zeroed)
		ptc_buf_put(c->b, c->was, c->len);
	if (!ptc_buf_failed(c->b))
		memset(c->b->bytes + (bytes.pos - c->was), 0, len);
	c->zeroed += n;
}

/* Returns the first area of @pid that ends above @addr. */
static size_t first_above(const struct ptc_redact *r, uint64_t pid, uint64_t addr)
{
	const struct area *a = r->areas;

	return PTC_PARTITION_POINT(i, 0, r->n,
				   a[i].pid < pid || (a[i].pid == pid && a[i].to <= addr));
}

/* Zero the parts of @bytes, at @addr of @pid, that are in an area. */
static void zero_memory(const struct ptc_redact *r, struct change *c, uint64_t pid, uint64_t addr,
			struct ptc_cur bytes)
{
	const size_t len = ptc_cur_left(&bytes);
	const uint64_t end = len < UINT64_MAX - addr ? addr + len : UINT64_MAX;
	size_t i = first_above(r, pid, addr);

	for (; i < r->n && r->areas[i].pid == pid && r->areas[i].from < end; i++) {
		const uint64_t from = r->areas[i].from > addr ? r->areas[i].from : addr;
		const uint64_t to = r->areas[i].to < end ? r->areas[i].to : end;

		zero(c, ptc_cur_init(bytes.pos + (from - addr), (size_t)(to - from)));
	}
}

static void zero_crash(const struct ptc_redact *r, struct change *c, const struct ptc_rec *rec)
{
	struct ptc_crash state;
	struct ptc_err err;

	if (ptc_crash_parse(rec, &state, &err) > 0 && state.kind == PTC_CRASH_MEMORY)
		zero_memory(r, c, state.u.memory.pid, state.u.memory.addr, state.bytes);
}

static void zero_poke(const struct ptc_redact *r, struct change *c, const struct ptc_rec *rec)
{
	struct ptc_sb sb;
	struct ptc_err err;

	if (ptc_sb_parse(rec, ptc_file_trailer_type(r->f, rec), &sb, &err) <= 0 ||
	    !(sb.id.has & PERF_SAMPLE_TID))
		return;
	zero_memory(r, c, (uint64_t)sb.id.pid, sb.u.poke.addr, sb.u.poke.old_bytes);
	zero_memory(r, c, (uint64_t)sb.id.pid, sb.u.poke.addr, sb.u.poke.new_bytes);
}

static void zero_sample(const struct ptc_redact *r, struct change *c, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(r->f, rec);
	struct ptc_sample s;
	struct ptc_err err;

	if (a && a->attr.sample_type & PERF_SAMPLE_STACK_USER &&
	    !ptc_sample_parse(rec, &a->attr, &s, &err))
		zero(c, s.stack_user);
}

/* Zero each word except the first, the program's name, with its padding. */
static void zero_cmdline(struct change *c, struct ptc_cur section)
{
	struct ptc_feature_iter words;
	const char *word;
	struct ptc_err err;
	bool first = true;

	if (ptc_feature_open(PTC_FEAT_CMDLINE, section, 0, &words, &err))
		return;
	for (; ptc_feature_next_string(&words, &word, &err) > 0; first = false)
		if (!first)
			zero(c,
			     ptc_cur_init(word, (size_t)(words.cur.pos - (const uint8_t *)word)));
}

static void zero_feature(struct change *c, const struct ptc_rec *rec)
{
	struct ptc_user u;
	struct ptc_err err;

	if (ptc_user_parse(rec, &u, &err) > 0 && u.u.feature.id == PTC_FEAT_CMDLINE)
		zero_cmdline(c, u.u.feature.data);
}

uint64_t ptc_redact_record(const struct ptc_redact *r, const struct ptc_rec *rec, struct ptc_buf *b)
{
	struct change c = { .was = rec->body.pos - PTC_REC_HEADER_SIZE,
			    .len = PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body),
			    .b = b };

	switch (rec->type) {
	case PTC_REC_HEADER_EVENT_TYPE:
		zero_crash(r, &c, rec);
		break;
	case PERF_RECORD_TEXT_POKE:
		zero_poke(r, &c, rec);
		break;
	case PERF_RECORD_SAMPLE:
		zero_sample(r, &c, rec);
		break;
	case PTC_REC_HEADER_FEATURE:
		zero_feature(&c, rec);
		break;
	default:
		break;
	}
	return c.zeroed;
}

uint64_t ptc_redact_feature(unsigned int bit, struct ptc_cur bytes, struct ptc_buf *b)
{
	struct change c = { .was = bytes.pos, .len = ptc_cur_left(&bytes), .b = b };

	if (bit == PTC_FEAT_CMDLINE)
		zero_cmdline(&c, bytes);
	return c.zeroed;
}
