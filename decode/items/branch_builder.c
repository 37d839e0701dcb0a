/* SPDX-License-Identifier: MIT */
#include "decode/items/branch_builder.h"

#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/items/item_fill.h"

void ptc_branch_builder_init(struct ptc_branch_builder *t, struct ptc_out *out,
			     const struct ptc_decode_opts *opts)
{
	ptc_insn_cache_init(&t->kinds);
	ptc_branch_builder_renew(t, out, opts);
}

void ptc_branch_builder_renew(struct ptc_branch_builder *t, struct ptc_out *out,
			      const struct ptc_decode_opts *opts)
{
	memset(&t->last, 0, sizeof(t->last));
	t->nheld = 0;
	t->out = out;
	t->insns = opts->insns;
	t->bytes = opts->bytes;
	t->lengths = opts->lengths;
	t->plain = !opts->insns && !opts->bytes && !out->picky;
	t->quick = t->plain && !opts->lengths;
	ptc_branch_builder_progress(t);
}

void ptc_branch_builder_release(struct ptc_branch_builder *t)
{
	ptc_insn_cache_release(&t->kinds);
}

void ptc_branch_builder_set_code(struct ptc_branch_builder *t, const struct ptc_addrspace *as)
{
	ptc_insn_cache_set_code(&t->kinds, as);
}

static void read_insn_bytes(struct ptc_branch_builder *t, struct ptc_item *it, uint8_t len)
{
	if (!it || !t->bytes || !len)
		return;
	if (ptc_addrspace_read(t->kinds.as, it->from, it->insn, len) == len)
		it->insn_len = len;
}

static struct ptc_item *branch(struct ptc_branch_builder *t, uint64_t from, uint64_t to,
			       enum ptc_kind kind, uint64_t time)
{
	struct ptc_item *it;

	if (t->insns)
		return NULL;
	it = ptc_out_branch(t->out, from, to, kind, time);
	if (it && from && t->bytes)
		read_insn_bytes(t, it, ptc_insn_cache_at(&t->kinds, from, PTC_MODE_64).len);
	else if (it && from && t->lengths)
		it->insn_len = ptc_insn_cache_at(&t->kinds, from, PTC_MODE_64).len;
	return it;
}

/* Lists a branch to @to, where the trace goes on: here 0 is an address. */
static void branch_on(struct ptc_branch_builder *t, uint64_t from, uint64_t to, enum ptc_kind kind,
		      uint64_t time)
{
	struct ptc_item *it = branch(t, from, to, kind, time);

	if (it && !to)
		it->flags |= PTC_ITEM_TO_ZERO;
}

static void list_event(struct ptc_branch_builder *t, const struct ptc_pt_event *ev)
{
	(void)ptc_out_event(t->out, ev->kind, ev->ip, ev->value, ev->time);
}

/* The pending instruction is done: lists the events held behind it. */
static void settle(struct ptc_branch_builder *t)
{
	size_t i;

	t->last.valid = false;
	for (i = 0; i < t->nheld; i++)
		list_event(t, &t->held[i]);
	t->nheld = 0;
}

void ptc_branch_builder_event(struct ptc_branch_builder *t, const struct ptc_pt_event *ev)
{
	const bool waits = t->last.valid && t->last.kind != PTC_KIND_NONE;

	if (waits && t->nheld < PTC_BRANCH_BUILDER_HELD)
		t->held[t->nheld++] = *ev;
	else
		list_event(t, ev);
}

void ptc_branch_builder_learn_time(struct ptc_branch_builder *t, uint64_t time)
{
	size_t i;

	if (!t->last.valid || t->last.time != PTC_NO_TIME)
		return;
	t->last.time = time;
	for (i = 0; i < t->nheld; i++)
		if (t->held[i].time == PTC_NO_TIME)
			t->held[i].time = time;
}

void ptc_branch_builder_land(struct ptc_branch_builder *t, uint64_t to)
{
	const uint8_t kind = t->last.kind;

	t->landed = true;
	if (!t->last.valid)
		return;
	/*
	 * A jcc to the next instruction: its target does not show whether it was taken, so it is
	 * never listed.
	 */
	if (kind != PTC_KIND_NONE && !(kind == PTC_KIND_JCC && to == t->last.ip + t->last.len))
		branch_on(t, t->last.ip, to, kind, t->last.time);
	settle(t);
}

static bool is_direct(uint8_t kind)
{
	return kind == PTC_KIND_JMP || kind == PTC_KIND_CALL;
}

/* Returns where instruction @e at @ip led. It needs no trace. */
static uint64_t next_insn_ip(struct ptc_branch_builder *t, struct ptc_kind_len e, uint64_t ip,
			     enum ptc_mode mode)
{
	uint8_t bytes[PTC_INSN_MAX];
	struct ptc_insn insn;
	size_t n;

	if (!is_direct(e.kind))
		return ip + e.len;
	n = ptc_addrspace_read(t->kinds.as, ip, bytes, sizeof(bytes));
	return ptc_insn_decode(mode, bytes, n, ip, &insn) == PTC_INSN_OK ? insn.target : ip + e.len;
}

/* Lists the branches inside a bent block. */
static void list_inner(struct ptc_branch_builder *t, const struct ptc_branch_builder_block *b)
{
	struct ptc_kind_len e;
	uint64_t ip = b->ip, to;
	uint32_t i;

	for (i = 0; i + 1 < b->ninsn; i++) {
		e = ptc_insn_cache_at(&t->kinds, ip, b->mode);
		if (!e.len)
			return;
		to = next_insn_ip(t, e, ip, b->mode);
		if (is_direct(e.kind))
			branch_on(t, ip, to, e.kind, b->time);
		ip = to;
	}
}

uint8_t ptc_branch_builder_insn(struct ptc_branch_builder *t, uint64_t ip, enum ptc_mode mode,
				uint64_t time)
{
	const uint8_t len = ptc_insn_cache_at(&t->kinds, ip, mode).len;

	read_insn_bytes(t, ptc_out_insn(t->out, ip, time), len);
	return len;
}

static void list_insns(struct ptc_branch_builder *t, const struct ptc_branch_builder_block *b)
{
	struct ptc_kind_len e;
	uint64_t ip = b->ip;
	uint32_t i;

	for (i = 0; i + 1 < b->ninsn; i++) {
		e = ptc_insn_cache_at(&t->kinds, ip, b->mode);
		/*
		 * Zydis cannot decode it, but libipt did. At least the last instruction is known.
		 */
		if (!e.len)
			break;
		read_insn_bytes(t, ptc_out_insn(t->out, ip, b->time), e.len);
		ip = next_insn_ip(t, e, ip, b->mode);
	}
	e = ptc_insn_cache_at(&t->kinds, b->end_ip, b->mode);
	read_insn_bytes(t, ptc_out_insn(t->out, b->end_ip, b->time), e.len);
}

bool ptc_branch_builder_block(struct ptc_branch_builder *t,
			      const struct ptc_branch_builder_block *b)
{
	struct ptc_kind_len e;

	ptc_branch_builder_land(t, b->ip);
	ptc_out_ran(t->out, b->ninsn, b->time);
	if (t->insns)
		list_insns(t, b);
	else if (b->bent)
		list_inner(t, b);
	e = ptc_insn_cache_at(&t->kinds, b->end_ip, b->mode);
	t->last.valid = true;
	t->last.kind = e.kind;
	t->last.len = e.len;
	t->last.ip = b->end_ip;
	t->last.time = b->time;
	if (b->part)
		return true;
	if (!ptc_branch_builder_needs_trace(e.kind))
		return !ptc_branch_builder_is_endless(t, b->whole);
	ptc_branch_builder_progress(t);
	return true;
}

bool ptc_branch_builder_reach(struct ptc_branch_builder *t, uint64_t ip, uint64_t to,
			      enum ptc_mode mode, uint64_t time)
{
	struct ptc_branch_builder_block b = {
		.ip = ip, .mode = mode, .time = time, .bent = true, .whole = ip
	};
	uint64_t mark = ip;
	uint32_t leaps = 0, next_mark = 1;

	while (ip != to) {
		const struct ptc_kind_len e = ptc_insn_cache_at(&t->kinds, ip, mode);

		if (!e.len || ptc_branch_builder_needs_trace(e.kind))
			return false;
		b.end_ip = ip;
		b.ninsn++;
		ip = next_insn_ip(t, e, ip, mode);
		if (!is_direct(e.kind))
			continue;
		if (ip == mark) /* an endless loop */
			return false;
		if (++leaps == next_mark) {
			next_mark *= 2;
			mark = ip;
		}
	}
	if (b.ninsn)
		(void)ptc_branch_builder_block(t, &b);
	ptc_branch_builder_land(t, to);
	return true;
}

static void list_one_by_one(struct ptc_branch_builder *t, const struct ptc_fast_rec *recs, size_t n,
			    uint64_t time)
{
	size_t i;

	for (i = 0; i < n; i++)
		(void)branch(t, ptc_fast_rec_from(recs[i]), recs[i].to, ptc_fast_rec_kind(recs[i]),
			     time);
}

/* Records fetched in advance; records per cache line. */
enum { AHEAD = 64, OF_LINE = 4 };

static struct ptc_item *put_branch_items(struct ptc_item *it, const struct ptc_stamp *s,
					 const struct ptc_fast_rec *recs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		ptc_stamp_put(it++, s, ptc_fast_rec_from(recs[i]), recs[i].to,
			      ptc_stamp_head((uint8_t)ptc_fast_rec_kind(recs[i])));
	return it;
}

static void put_lengths(struct ptc_branch_builder *t, struct ptc_item *it, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		it[i].insn_len = ptc_insn_cache_at(&t->kinds, it[i].from, PTC_MODE_64).len;
}

void ptc_branch_builder_list(struct ptc_branch_builder *t, const struct ptc_fast_rec *recs,
			     size_t n, uint64_t time)
{
	const struct ptc_stamp s = ptc_stamp_of(t->out, time);
	struct ptc_out *o = t->out;
	struct ptc_item *it;
	size_t i;

	if (!t->plain) {
		list_one_by_one(t, recs, n, time);
		return;
	}
	if (o->runs && t->quick && n >= PTC_OUT_RUN_MIN) {
		ptc_out_run(o, recs, n, time);
		return;
	}
	if (!ptc_out_reserve(o, n))
		return;
	it = o->items + o->n;
	for (i = 0; n - i > AHEAD; i += OF_LINE) {
		/* The records may be in the cache of another CPU, whose thread made them. */
		__builtin_prefetch(recs + i + AHEAD);
		it = put_branch_items(it, &s, recs + i, OF_LINE);
	}
	(void)put_branch_items(it, &s, recs + i, n - i);
	if (t->lengths)
		put_lengths(t, o->items + o->n, n);
	o->n += n;
	o->stats->branches += n;
	ptc_out_saw(o, time);
}

void ptc_branch_builder_start(struct ptc_branch_builder *t, uint64_t ip, uint64_t time)
{
	settle(t);
	branch_on(t, 0, ip, PTC_KIND_START, time);
}

void ptc_branch_builder_exit(struct ptc_branch_builder *t, uint64_t to, uint64_t time)
{
	const uint8_t kind = t->last.kind;
	const uint64_t next = t->last.ip + t->last.len;

	/* No branch: the code ran on, out of an address filter. */
	if (t->last.valid && (kind == PTC_KIND_NONE || (kind == PTC_KIND_JCC && to == next)))
		(void)branch(t, next, to, PTC_KIND_ASYNC, time);
	else if (t->last.valid)
		(void)branch(t, t->last.ip, to, kind, time);
	settle(t);
}

void ptc_branch_builder_async(struct ptc_branch_builder *t, uint64_t from, uint64_t to,
			      uint64_t time)
{
	ptc_branch_builder_land(t, from);
	(void)branch(t, from, to, PTC_KIND_ASYNC, time);
}

void ptc_branch_builder_cut(struct ptc_branch_builder *t)
{
	settle(t);
}
