/* SPDX-License-Identifier: MIT */
#include "decode/engine/flow_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Blocks in a row that need no trace: more count as an endless loop. */
enum { MAX_ON = 4096 };

void ptc_fast_flow_init(struct ptc_fast_flow *f, struct ptc_fast_hand *hand)
{
	*f = (struct ptc_fast_flow){ .mode = PTC_MODE_64 };
	if (hand)
		ptc_fast_flow_use(f, hand);
}

void ptc_fast_flow_use(struct ptc_fast_flow *f, struct ptc_fast_hand *hand)
{
	f->hand = hand;
	f->code = hand->code;
}

void ptc_fast_flow_restart(struct ptc_fast_flow *f)
{
	*f = (struct ptc_fast_flow){ .hand = f->hand,
				     .code = f->code,
				     .mode = PTC_MODE_64,
				     .recs = f->recs,
				     .recs_cap = f->recs_cap };
}

void ptc_fast_flow_release(struct ptc_fast_flow *f)
{
	free(f->recs);
	*f = (struct ptc_fast_flow){ .at = PTC_FAST_NONE };
}

static enum ptc_fast_reached lost(struct ptc_fast_flow *f, const char *why)
{
	f->why = why;
	return PTC_FAST_LOST;
}

/* Reserve space for @n more records, and one: see ptc_fast_flow_list. */
static bool reserve_flow_recs(struct ptc_fast_flow *f, size_t n)
{
	return ptc_grow(&f->recs, &f->recs_cap, f->nrecs + n + 1, sizeof(*f->recs));
}

enum ptc_fast_reached ptc_fast_flow_list(struct ptc_fast_flow *f, struct ptc_fast_rec rec)
{
	if (!reserve_flow_recs(f, 1))
		return lost(f, "out of memory");
	f->recs[f->nrecs++] = rec;
	return PTC_FAST_THERE;
}

void ptc_fast_flow_take(struct ptc_fast_flow *f, size_t n)
{
	struct ptc_fast_rec *v;

	if (!n)
		return;
	v = f->recs + f->first;
	f->nrecs -= n;
	memmove(v, v + n, (f->nrecs - f->first) * sizeof(*v));
}

void ptc_fast_flow_count(struct ptc_fast_flow *f)
{
	size_t i;

	for (i = f->first; i < f->nrecs; i++)
		f->kinds[ptc_fast_rec_kind(f->recs[i])]++;
	f->ncounted += f->nrecs - f->first;
	f->nrecs = f->first;
}

static void no_last(struct ptc_fast_flow *f)
{
	f->last = (struct ptc_fast_last){ .how = PTC_FAST_LAST_NONE };
}

/*
 * Can there be code of @mode at @ip? In 16-bit code, the targets of jumps depend on a segment that
 * is not recorded.
 */
static bool is_place(uint64_t ip, enum ptc_mode mode)
{
	return mode == PTC_MODE_64 ? ptc_fast_is_address(ip) : mode == PTC_MODE_32 && !(ip >> 32);
}

/* Set the flow to @ip. */
static enum ptc_fast_reached come_to(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode)
{
	/*
	 * A record cannot distinguish a branch to address 0 from one that leaves the trace.
	 * libipt's path can.
	 */
	if (!ip)
		return lost(f, "a branch to address 0");
	if (!is_place(ip, mode))
		return lost(f, "no code of this mode");
	f->mode = mode;
	f->at = ptc_fast_code_find(f->hand, ip, mode);
	return f->at ? PTC_FAST_THERE : lost(f, "too many blocks");
}

enum ptc_fast_reached ptc_fast_flow_begin(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode)
{
	no_last(f);
	return come_to(f, ip, mode);
}

static void push_return_blocks(struct ptc_fast_flow *f, uint32_t first, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		f->stack[f->sp++ % PTC_FAST_STACK] = f->code->pushes[first + i];
}

static uint32_t pop(struct ptc_fast_flow *f)
{
	uint32_t *top = &f->stack[--f->sp % PTC_FAST_STACK];
	const uint32_t block = *top;

	*top = PTC_FAST_NONE;
	return block;
}

/* List the first @n branches of @b. */
static bool list_inner(struct ptc_fast_flow *f, const struct ptc_fast_block *b, size_t n)
{
	if (!reserve_flow_recs(f, n))
		return false;
	if (n)
		memcpy(f->recs + f->nrecs, f->code->recs + b->recs, n * sizeof(*f->recs));
	f->nrecs += n;
	return true;
}

/* All of the next block ran. Where its end led is not known yet. */
static enum ptc_fast_reached pass(struct ptc_fast_flow *f)
{
	const struct ptc_fast_block *b = &f->code->blocks[f->at];

	if (!list_inner(f, b, b->nrecs))
		return lost(f, "out of memory");
	push_return_blocks(f, b->pushes, b->npushes);
	f->insns += b->ninsns;
	f->last = (struct ptc_fast_last){ .how = PTC_FAST_LAST_BLOCK, .block = f->at };
	return PTC_FAST_THERE;
}

/* The end of the last block led to @to. */
static void list_end(struct ptc_fast_flow *f, uint64_t to)
{
	const struct ptc_fast_block *b = &f->code->blocks[f->last.block];
	struct ptc_fast_rec rec = f->code->recs[b->recs + b->nrecs];

	rec.to = to;
	f->recs[f->nrecs++] = rec; /* there is always space for one */
	f->last.listed = true;
}

static bool is_direct(uint8_t kind)
{
	return kind == PTC_KIND_JMP || kind == PTC_KIND_CALL;
}

/* Run over blocks that need no trace. On success the next block is built, and needs trace. */
static enum ptc_fast_reached run_on(struct ptc_fast_flow *f)
{
	const struct ptc_fast_block *b;
	int i;

	for (i = 0; i < MAX_ON; i++) {
		b = ptc_fast_code_get(f->hand, f->at);
		if (b->end == PTC_FAST_BAD)
			return lost(f, "no code");
		if (b->end == PTC_FAST_JUMP)
			return PTC_FAST_NEEDS_IP;
		if (b->end != PTC_FAST_ON)
			return PTC_FAST_NEEDS_BITS;
		if (pass(f) == PTC_FAST_LOST)
			return PTC_FAST_LOST;
		f->last.listed = is_direct(b->end_kind);
		f->at = b->next[0];
	}
	return lost(f, "a loop without an end");
}

/* Run the next block, whose end is a jcc. */
static enum ptc_fast_reached take_jcc(struct ptc_fast_flow *f, bool taken)
{
	const struct ptc_fast_block *b = &f->code->blocks[f->at];

	if (pass(f) == PTC_FAST_LOST)
		return PTC_FAST_LOST;
	f->at = b->next[taken];
	if (taken && !b->stays)
		list_end(f, f->code->blocks[f->at].ip);
	return PTC_FAST_THERE;
}

/* Run the next block, whose end is a return, to where it was called from. */
static enum ptc_fast_reached take_ret(struct ptc_fast_flow *f, bool taken)
{
	uint32_t to;

	if (!taken)
		return lost(f, "a return that is not taken");
	if (pass(f) == PTC_FAST_LOST)
		return PTC_FAST_LOST;
	to = pop(f);
	if (!to)
		return lost(f, "a return without a call");
	f->at = to;
	list_end(f, f->code->blocks[to].ip);
	return PTC_FAST_THERE;
}

enum ptc_fast_reached ptc_fast_flow_bits(struct ptc_fast_flow *f, uint64_t *bits, unsigned int *n)
{
	enum ptc_fast_reached r = PTC_FAST_THERE;
	bool taken;

	while (*n) {
		r = run_on(f);
		if (r != PTC_FAST_NEEDS_BITS)
			return r;
		taken = *bits >> 63;
		*bits <<= 1;
		--*n;
		r = f->code->blocks[f->at].end == PTC_FAST_COND ? take_jcc(f, taken) :
								  take_ret(f, taken);
		if (r == PTC_FAST_LOST)
			return r;
	}
	return r;
}

enum ptc_fast_reached ptc_fast_flow_tip(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode)
{
	enum ptc_fast_reached r = run_on(f);

	if (r == PTC_FAST_LOST)
		return r;
	if (f->code->blocks[f->at].end == PTC_FAST_COND)
		return lost(f, "an address for a jcc");
	r = pass(f);
	if (r == PTC_FAST_LOST)
		return r;
	list_end(f, ip);
	return come_to(f, ip, mode);
}

/* A place inside a block. */
struct place {
	uint64_t ip;
	size_t insns, recs, pushes; /* counts in front of it */
	size_t insn;		    /* the instruction in front of it: index in lens */
	uint64_t insn_ip;	    /* address of that instruction */
};

/* Move @at over one instruction. */
static void skip_insn(const struct ptc_fast_code *c, const struct ptc_fast_block *b,
		      struct place *at)
{
	const uint8_t len = c->lens[b->lens + at->insns];

	at->insn = at->insns;
	at->insn_ip = at->ip;
	at->insns++;
	at->ip += len & PTC_FAST_LEN;
	if (len & PTC_FAST_LEAPS)
		at->ip = c->recs[b->recs + at->recs++].to;
	if (len & PTC_FAST_PUSHES)
		at->pushes++;
}

/* The next block, which is built, ran up to @at, and no further. */
static enum ptc_fast_reached pass_part(struct ptc_fast_flow *f, const struct place *at)
{
	const struct ptc_fast_block *b = &f->code->blocks[f->at];
	const struct ptc_fast_code *c = f->code;
	uint8_t len;

	if (!at->insns)
		return PTC_FAST_THERE;
	if (!list_inner(f, b, at->recs))
		return lost(f, "out of memory");
	push_return_blocks(f, b->pushes, at->pushes);
	f->insns += at->insns;
	len = c->lens[b->lens + at->insn];
	f->last = (struct ptc_fast_last){ .how = PTC_FAST_LAST_INSN,
					  .ip = at->insn_ip,
					  .len = len & PTC_FAST_LEN };
	if (len & PTC_FAST_LEAPS) {
		f->last.listed = true;
		f->last.kind = (uint8_t)ptc_fast_rec_kind(f->recs[f->nrecs - 1]);
	}
	return come_to(f, at->ip, f->mode);
}

/*
 * Find @ip in the next block. The place behind its last instruction counts only if there is no
 * code.
 */
static bool find_in_block(struct ptc_fast_flow *f, uint64_t ip, struct place *ret)
{
	const struct ptc_fast_block *b = ptc_fast_code_get(f->hand, f->at);
	struct place at = { .ip = b->ip };

	while (at.insns < b->ninsns && at.ip != ip)
		skip_insn(f->code, b, &at);
	*ret = at;
	return at.ip == ip && (at.insns < b->ninsns || b->end == PTC_FAST_BAD);
}

enum ptc_fast_reached ptc_fast_flow_to(struct ptc_fast_flow *f, uint64_t ip)
{
	const struct ptc_fast_block *b;
	struct place at;
	int i;

	for (i = 0; i < MAX_ON; i++) {
		if (find_in_block(f, ip, &at)) {
			const enum ptc_fast_reached r = pass_part(f, &at);

			f->last.proven = r == PTC_FAST_THERE;
			return r;
		}
		b = &f->code->blocks[f->at];
		if (b->end != PTC_FAST_ON)
			return run_on(f);
		if (pass(f) == PTC_FAST_LOST)
			return PTC_FAST_LOST;
		f->last.listed = is_direct(b->end_kind);
		f->at = b->next[0];
	}
	return lost(f, "a loop without an end");
}

void ptc_fast_flow_end(struct ptc_fast_flow *f)
{
	no_last(f);
}

struct ptc_fast_last ptc_fast_flow_last(const struct ptc_fast_flow *f)
{
	struct ptc_fast_last last = f->last;
	const struct ptc_fast_block *b = &f->code->blocks[last.block];

	if (last.how == PTC_FAST_LAST_BLOCK) {
		last.how = PTC_FAST_LAST_INSN;
		last.ip = b->end_ip;
		last.kind = b->end_kind;
		last.len = b->end_len;
	}
	return last;
}

/* The last instruction left traced code, for @to (0: unknown). */
static enum ptc_fast_reached leave(struct ptc_fast_flow *f, uint64_t to)
{
	const struct ptc_fast_last last = ptc_fast_flow_last(f);

	f->at = PTC_FAST_NONE;
	no_last(f);
	if (last.listed)
		f->nrecs--;
	if (last.how == PTC_FAST_LAST_NONE)
		return PTC_FAST_THERE;
	/* No branch: the code just went on, out of an address filter. */
	if (last.kind == PTC_KIND_NONE || (last.kind == PTC_KIND_JCC && to == last.ip + last.len))
		return ptc_fast_flow_list(f, ptc_fast_rec(last.ip + last.len, to, PTC_KIND_ASYNC));
	return ptc_fast_flow_list(f, ptc_fast_rec(last.ip, to, (enum ptc_kind)last.kind));
}

enum ptc_fast_reached ptc_fast_flow_off(struct ptc_fast_flow *f, bool has_ip, uint64_t ip)
{
	enum ptc_fast_reached r = has_ip ? ptc_fast_flow_to(f, ip) : run_on(f);

	if (r == PTC_FAST_NEEDS_IP || r == PTC_FAST_NEEDS_BITS)
		r = pass(f);
	return r == PTC_FAST_THERE ? leave(f, has_ip ? ip : 0) : r;
}

enum ptc_fast_reached ptc_fast_flow_async(struct ptc_fast_flow *f, uint64_t from, uint64_t to,
					  enum ptc_mode mode, bool on)
{
	enum ptc_fast_reached r = ptc_fast_flow_to(f, from);

	if (r != PTC_FAST_THERE)
		return r == PTC_FAST_LOST ? r : lost(f, "an event where the flow is not");
	no_last(f);
	f->at = PTC_FAST_NONE;
	r = ptc_fast_flow_list(f, ptc_fast_rec(from, to, PTC_KIND_ASYNC));
	return on && r == PTC_FAST_THERE ? come_to(f, to, mode) : r;
}

void ptc_fast_flow_cut(struct ptc_fast_flow *f)
{
	/* Only later trace proves a branch that needs no trace. */
	if (f->last.listed && !f->last.proven && is_direct(ptc_fast_flow_last(f).kind))
		f->nrecs--;
	no_last(f);
	f->at = PTC_FAST_NONE;
}

void ptc_fast_flow_forget_calls(struct ptc_fast_flow *f)
{
	size_t i;

	for (i = 0; i < PTC_FAST_STACK; i++)
		f->stack[i] = PTC_FAST_NONE;
}

struct ptc_fast_stand ptc_fast_flow_leave(struct ptc_fast_flow *f)
{
	struct ptc_fast_stand stand = { .at = f->code->blocks[f->at].ip };
	size_t i;

	for (i = 0; i < PTC_FAST_STACK; i++) {
		stand.stack[i] = f->code->blocks[f->stack[i]].ip;
		stand.modes[i] = f->code->blocks[f->stack[i]].mode;
	}
	f->last = ptc_fast_flow_last(f);
	return stand;
}

static uint32_t find_again(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode)
{
	return ip ? ptc_fast_code_find(f->hand, ip, mode) : PTC_FAST_NONE;
}

bool ptc_fast_flow_return(struct ptc_fast_flow *f, const struct ptc_fast_stand *stand)
{
	size_t i;

	f->at = find_again(f, stand->at, f->mode);
	for (i = 0; i < PTC_FAST_STACK; i++)
		f->stack[i] = find_again(f, stand->stack[i], (enum ptc_mode)stand->modes[i]);
	f->why = "too many blocks";
	return !ptc_fast_get_hint(&f->code->failed);
}
