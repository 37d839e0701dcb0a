/* SPDX-License-Identifier: MIT */
/*
 * The block loop: calls libipt again and again, and lists an item for each branch, as long as
 * nothing else happens and the time stays the same.
 */
#include "decode/items/item_fill.h"
#include "decode/libipt/ipt_block.h"
#include "decode/libipt/packet_cursor.h"
#include "decode/libipt/replay_state.h"

/*
 * The last instruction, whose target is not known yet. If the next block begins less than @near
 * bytes behind it, that should be the next instruction, and the instruction should not be a taken
 * branch. Where the two disagree, the kind of the instruction is looked up.
 */
struct pending {
	uint64_t ip, near;
	uint64_t head;	/* of its item */
	uint64_t leads; /* the expected number of items: 0 or 1 */
};

/* @taken: -1 if not known. */
static inline struct pending pending_jcc(uint64_t ip, int taken)
{
	return (struct pending){ ip, taken < 0 ? UINT64_MAX : PTC_INSN_MAX + 1,
				 ptc_stamp_head(PTC_KIND_JCC), taken != 0 };
}

static inline struct pending pending_other(uint64_t ip, uint8_t kind)
{
	return (struct pending){ ip, 0, ptc_stamp_head(kind), kind != PTC_KIND_NONE };
}

static struct pending pending_of(const struct ptc_branch_builder *t)
{
	return t->last.kind == PTC_KIND_JCC ? pending_jcc(t->last.ip, -1) :
					      pending_other(t->last.ip, t->last.kind);
}

static bool is_listed(struct ptc_branch_builder *t, uint64_t ip, uint64_t to)
{
	const struct ptc_kind_len e = ptc_insn_cache_at(&t->kinds, ip, PTC_MODE_64);

	return e.kind != PTC_KIND_NONE && !(e.kind == PTC_KIND_JCC && to == ip + e.len);
}

/*
 * Position of the decoder, and its last two changes: the call that made it, and the position
 * before.
 */
struct places {
	uint64_t call, call2;
	const uint8_t *now, *was, *was2;
};

/* @call was the last one, and the replay has its result. */
static struct places places_of(const struct ptc_replay *r, uint64_t call)
{
	const uint8_t *bytes = r->window.bytes;

	return (struct places){ .call = call,
				.call2 = call - 1,
				.now = bytes + r->place.off,
				.was = bytes + r->place.prev_off,
				.was2 = bytes + r->place.prev2_off };
}

/* @call brought the decoder to @now. */
static inline void move_on(struct places *p, uint64_t call, const uint8_t *now)
{
	if (now == p->now)
		return;
	p->was2 = p->was;
	p->call2 = p->call;
	p->was = p->now;
	p->call = call;
	p->now = now;
}

/* Returns the decoder's position before @call, which must be the last call or the one before. */
static const uint8_t *place_before(const struct places *p, uint64_t call)
{
	if (call > p->call)
		return p->now;
	return call > p->call2 ? p->was : p->was2;
}

/* Sets the replay's offsets as they are after @call. */
static void settle_place(struct ptc_replay *r, const struct places *p, uint64_t call)
{
	const uint8_t *bytes = r->window.bytes;
	const size_t off = (size_t)(p->now - bytes);

	r->place.raw += off - r->place.off;
	r->place.off = off;
	r->place.prev_off = (size_t)(place_before(p, call) - bytes);
	r->place.prev2_off = (size_t)(place_before(p, call - 1) - bytes);
}

struct row {
	struct ptc_packet_cursor feed;
	struct places places;
	struct pending last;
	uint64_t calls; /* starts at 2, so that two calls are in front of the first */
	uint64_t insns;
	bool progress; /* still to be reported to the branch builder */
	enum ptc_left left;
};

/* Takes @b, whose last instruction is neither a jcc nor a return. */
static inline void take_other(struct row *row, struct ptc_branch_builder *t,
			      const struct pt_block *b)
{
	const uint8_t kind = ptc_insn_cache_at(&t->kinds, b->end_ip, PTC_MODE_64).kind;
	struct ptc_packet_cursor *f = &row->feed;

	row->last = pending_other(b->end_ip, kind);
	if (row->progress)
		ptc_branch_builder_progress(t);
	row->progress = ptc_branch_builder_needs_trace(kind);
	if (!row->progress && ptc_branch_builder_is_endless(t, b->ip))
		row->left = PTC_LEFT_ENDLESS;
	if (kind == PTC_KIND_CALL || kind == PTC_KIND_ICALL)
		ptc_packet_cursor_push(f);
	if (kind == PTC_KIND_JMP || kind == PTC_KIND_CALL)
		return;
	/* If Zydis cannot decode the instruction, libipt may still know it, and have used trace. */
	if ((kind == PTC_KIND_IJMP || kind == PTC_KIND_ICALL) && ptc_packet_cursor_is_known(f))
		ptc_packet_cursor_take_ip(f);
	else
		ptc_packet_cursor_ask(f);
}

/*
 * Takes from the trace what @b used, as far as that is known without asking, and sets the pending
 * instruction.
 */
static inline void take_trace(struct row *row, struct ptc_branch_builder *t,
			      const struct pt_block *b)
{
	const bool known = ptc_packet_cursor_is_known(&row->feed);

	if (b->iclass == ptic_cond_jump) {
		row->progress = true;
		row->last =
			pending_jcc(b->end_ip, known ? ptc_packet_cursor_take_bit(&row->feed) : -1);
	} else if (b->iclass == ptic_return) {
		row->progress = true;
		row->last = pending_other(b->end_ip, PTC_KIND_RET);
		if (known)
			ptc_packet_cursor_take_return(&row->feed);
	} else {
		take_other(row, t, b);
	}
}

/*
 * Asks for the decoder's position, which is unknown behind @b, the block of @call. @empty: no bits
 * were left before. Returns true if the loop is over.
 */
static bool get_decoder_position(struct ptc_replay *r, struct places *p, uint64_t call,
				 const struct pt_block *b, struct ptc_packet_cursor *f, bool empty)
{
	const uint64_t time = r->time.now;
	const size_t stop = next_stop(r);
	const int calls = f->calls;

	settle_place(r, p, call - 1);
	ptc_replay_look_ahead(r, b, empty, f);
	f->calls = calls;
	*p = places_of(r, call);
	return r->status < 0 || r->time.now != time || r->place.off >= stop || r->psbs.swallowed ||
	       ptc_window_is_stale(&r->window, r->place.off);
}

/* Takes a block that the decoder has returned. Returns true if the loop is over. */
static inline bool take_block(struct ptc_replay *r, struct row *row, const struct pt_block *b)
{
	const bool empty = !row->feed.bits;
	struct places places;
	struct ptc_packet_cursor feed;
	bool over;

	take_trace(row, &r->trail, b);
	if (ptc_packet_cursor_is_known(&row->feed)) {
		move_on(&row->places, row->calls, row->feed.next);
		return row->left != PTC_LEFT_NOTHING;
	}
	/* Pass copies: if the row's address escaped, it could not be kept in registers. */
	places = row->places;
	feed = row->feed;
	over = get_decoder_position(r, &places, row->calls, b, &feed, empty);
	row->places = places;
	row->feed = feed;
	return over || row->left != PTC_LEFT_NOTHING;
}

/*
 * Completes the pending branch @last, taken to @to, at @it. Returns the next free item: @it itself
 * if the branch is not listed.
 */
static inline struct ptc_item *lead(struct ptc_branch_builder *t, const struct pending *last,
				    const struct ptc_stamp *s, uint64_t to, struct ptc_item *it)
{
	ptc_stamp_put(it, s, last->ip, to, last->head);
	if (last->leads == (to - last->ip < last->near))
		return it + is_listed(t, last->ip, to);
	return it + last->leads;
}

/*
 * Takes @b, returned with @status. Returns false if the caller of the loop must handle the block.
 */
static inline bool take_odd(struct ptc_replay *r, int status, struct pt_block *b)
{
	uint32_t insns = b->ninsn;

	if (ptc_ipt_is_cut(b))
		status = ptc_ipt_join_blocks(r->dec, status, b, &insns, UINT32_MAX);
	status = ptc_ipt_track_block(&r->track, r->dec, status, b);
	r->status = status;
	r->ninsn = insns;
	return !status && insns && b->mode == ptem_64bit;
}

/*
 * Gets the next block. Returns false if it is not a simple one; the caller of the loop must handle
 * it.
 */
static inline bool next_block(struct ptc_replay *r, struct row *row, struct pt_block *b)
{
	const int status = pt_blk_next(r->dec, b, sizeof(*b));
	uint32_t insns = b->ninsn;

	/* A block that ends in a jcc is whole, and has an instruction. */
	if (status || b->iclass != ptic_cond_jump || b->mode != ptem_64bit) {
		if (!take_odd(r, status, b)) {
			row->left = PTC_LEFT_BLOCK;
			return false;
		}
		insns = r->ninsn;
	} else {
		(void)ptc_ipt_track_block(&r->track, r->dec, 0, b);
	}
	row->calls++;
	row->insns += insns;
	return true;
}

/* Returns true if @b ends in a jcc whose bit is known, and needs nothing else. Most blocks do. */
static inline bool is_plain(const struct row *row, const struct pt_block *b)
{
	return b->iclass == ptic_cond_jump && ptc_packet_cursor_has_bit(&row->feed);
}

/*
 * Takes plain blocks from @b on, up to the next block that is not plain, and lists the branch to
 * it. Returns false if there is no such block: the loop ends before that block.
 */
static inline bool take_plain(struct ptc_replay *r, struct row *row, const struct ptc_stamp *s,
			      struct ptc_item **it, const struct ptc_item *end, struct pt_block *b)
{
	struct pending last;

	row->progress = true;
	do {
		last = pending_jcc(b->end_ip, ptc_packet_cursor_pop_bit(&row->feed));
		if (*it >= end || !next_block(r, row, b)) {
			row->last = last;
			return false;
		}
		*it = lead(&r->trail, &last, s, b->ip, *it);
	} while (is_plain(row, b));
	return true;
}

/*
 * Runs the loop until it is over, or the items reach @end. There must be space for one more item.
 */
static struct ptc_item *fill_row(struct ptc_replay *r, struct row *out, struct ptc_item *it,
				 const struct ptc_item *end, struct pt_block *ret)
{
	const struct ptc_stamp s = ptc_stamp_of(&r->out, r->trail.last.time);
	struct row row = *out;
	struct pt_block b;

	while (next_block(r, &row, &b)) {
		it = lead(&r->trail, &row.last, &s, b.ip, it);
		if (is_plain(&row, &b) && !take_plain(r, &row, &s, &it, end, &b))
			break;
		if (take_block(r, &row, &b) || it >= end)
			break;
	}
	*out = row;
	*ret = b;
	return it;
}

static void end_row(struct ptc_replay *r, const struct row *row, uint64_t time)
{
	struct ptc_branch_builder *t = &r->trail;
	struct ptc_kind_len e;

	settle_place(r, &row->places, row->calls);
	r->quiet.bits = row->feed.bits;
	r->quiet.word = row->feed.word;
	r->quiet.calls = row->feed.calls;
	r->time.prev_now = time;
	if (!row->insns)
		return;
	r->time.told = time;
	e = ptc_insn_cache_at(&t->kinds, row->last.ip, PTC_MODE_64);
	t->last.kind = e.kind;
	t->last.len = e.len;
	t->last.ip = row->last.ip;
	t->last.time = time;
	if (row->progress)
		ptc_branch_builder_progress(t);
	ptc_out_ran(&r->out, row->insns, time);
	r->idle = 0;
}

/* Returns how many more items the loop may list if @max items may wait. */
static size_t room_for(const struct ptc_out *o, size_t max)
{
	const size_t waiting = o->n - o->head;

	return waiting < max ? max - waiting : 0;
}

enum ptc_left ptc_replay_run_blocks(struct ptc_replay *r, size_t max, struct pt_block *b)
{
	struct ptc_out *o = &r->out;
	const uint64_t time = r->time.now;
	struct ptc_item *it = o->items + o->n;
	struct row row = { .feed = ptc_replay_feed(r),
			   .places = places_of(r, 2),
			   .last = pending_of(&r->trail),
			   .calls = 2,
			   .left = PTC_LEFT_NOTHING };

	r->status = 0; /* not written for blocks that end in a jcc */
	it = fill_row(r, &row, it, it + room_for(o, max), b);
	end_row(r, &row, time);
	o->stats->branches += (size_t)(it - o->items) - o->n;
	o->n = (size_t)(it - o->items);
	ptc_out_saw(o, time);
	if (row.left == PTC_LEFT_BLOCK)
		ptc_replay_look_behind(r, b);
	return row.left;
}
