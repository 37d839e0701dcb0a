/* SPDX-License-Identifier: MIT */
/*
 * Where libipt is in the trace, and the time there: asked after each call, or found from the bytes.
 */
#include "decode/libipt/ipt_block.h"
#include "decode/libipt/packet_cursor.h"
#include "decode/libipt/replay_state.h"

size_t ptc_replay_position(struct ptc_replay *r)
{
	const size_t len = span_of(r)->len, room = room_of(r);
	uint64_t at;

	if (!ptc_ipt_track_offset(&r->track, r->dec, &at))
		return r->place.from;
	r->place.raw = (size_t)at;
	if (at < room + r->place.from)
		return r->place.from;
	return at - room < len ? (size_t)(at - room) : len;
}

void ptc_replay_look_at_bound(struct ptc_replay *r)
{
	const size_t psb = ptc_replay_psb_ahead(r);
	/* A PSB that was read counts once the flow is there. Until then the earlier time counts. */
	const size_t at = r->place.prev_off < psb ? r->place.prev_off : psb - 1;

	if (r->conf.clock.valid)
		r->time.bound =
			ptc_time_bound_get(&r->time.ahead, (struct ptc_spot){ r->span, at });
}

static void look_at_time(struct ptc_replay *r)
{
	uint64_t tsc;

	/* Behind a missing address libipt may have read on: see judge_block. */
	if (r->status == -pte_noip || !r->conf.clock.valid ||
	    !ptc_ipt_track_time(&r->track, r->dec, &tsc))
		return;
	if (tsc == r->time.tsc && r->time.bound == r->time.tsc_bound)
		return;
	r->time.tsc = tsc;
	r->time.tsc_bound = r->time.bound;
	r->time.now = not_before(r->time.now, to_ns(r, tsc, r->time.bound));
}

/* The decoder was called: update the position. */
static void move_on(struct ptc_replay *r)
{
	r->place.prev2_off = r->place.prev_off;
	r->place.prev_off = r->place.off;
	r->place.off = ptc_replay_position(r);
}

/* Update everything else for the new position. */
static void look_there(struct ptc_replay *r)
{
	r->time.prev_now = r->time.now;
	if (r->place.off > r->psbs.check)
		ptc_replay_pass_psbs(r);
	r->quiet.bits = -1;
	r->quiet.calls = 0;
	r->quiet.lags = true;
	r->quiet.fup = true;
	r->time.tsc = UINT64_MAX;
	ptc_replay_look_at_bound(r);
	look_at_time(r);
}

void ptc_replay_look_around(struct ptc_replay *r)
{
	move_on(r);
	look_there(r);
}

static const uint8_t *window_bytes_at(const struct ptc_replay *r, size_t raw)
{
	return r->window.bytes - room_of(r) + raw;
}

/*
 * Did a branch that needs an address come to a TIP packet without one, in the @n bytes at @p?
 * Returns the end of that packet, from @p on; 0: no. libipt skips a TNT packet in front, if the
 * branch cannot use it (@skips). It also skips packets that are no event: a stray PSBEND, a PSB+
 * without a mode. In front of an event it would have stopped earlier.
 */
static size_t find_no_ip(const uint8_t *p, size_t n, bool skips)
{
	size_t at = 0;
	enum ptc_pkt type;
	int len;

	if (*p == PTC_PKT_TIP_NONE || !skips)
		return *p == PTC_PKT_TIP_NONE;
	while ((len = ptc_pkt_len(p + at, n - at, &type)) > 0 && type != PTC_PKT_TIP &&
	       (!at || (type != PTC_PKT_TNT && type != PTC_PKT_TNT64)))
		at += (size_t)len;
	return len > 0 && p[at] == PTC_PKT_TIP_NONE ? at + 1 : 0;
}

/*
 * Returns how many of the @n bytes at @p libipt reads before it reports a missing address: up to
 * the next packet of an event, such as CBR. The FUP of an event is included.
 */
static size_t read_behind_no_ip(const uint8_t *p, size_t n)
{
	size_t at = 0;
	enum ptc_pkt type;
	int len;

	while ((len = ptc_pkt_len(p + at, n - at, &type)) > 0 && ptc_pkt_is_timing(type) &&
	       type != PTC_PKT_CBR)
		at += (size_t)len;
	if (len <= 0)
		return n;
	return type == PTC_PKT_FUP ? at + (size_t)len : at;
}

/*
 * Correct status and position if a branch took a TIP packet without an address: @b, when the
 * decoder was at @raw. libipt reports such a branch if the block is not in its cache. If the block
 * is there, libipt goes on with the branch itself, and with the event behind it, which may fail.
 */
static void judge_block(struct ptc_replay *r, const struct pt_block *b, size_t raw)
{
	size_t at, more;
	uint8_t kind;

	if (!b->ninsn || r->place.raw <= raw || b->iclass == ptic_cond_jump || ptc_ipt_is_cut(b))
		return;
	at = find_no_ip(window_bytes_at(r, raw), r->place.raw - raw, b->iclass != ptic_return);
	kind = ptc_insn_cache_at(&r->trail.kinds, b->end_ip, mode_of(b->mode)).kind;
	if (!at || kind == PTC_KIND_JMP || kind == PTC_KIND_CALL)
		return;
	r->status = -pte_noip;
	more = r->place.raw - raw - at;
	more -= read_behind_no_ip(window_bytes_at(r, raw + at), more);
	r->place.raw -= more;
	r->place.off -= more;
}

void ptc_replay_look_behind(struct ptc_replay *r, const struct pt_block *b)
{
	const size_t raw = r->place.raw;

	move_on(r);
	judge_block(r, b, raw);
	look_there(r);
}

/* Is any of the bytes the possible first byte of a FUP? */
static bool may_have_fup(const uint8_t *bytes, const uint8_t *end)
{
	for (; bytes < end; bytes++)
		if (ptc_pkt_is_fup(*bytes))
			return true;
	return false;
}

/*
 * A block has used the next packet, and now the decoder is @n bytes further on. @empty: it had no
 * bits before. In a damaged trace it may take a TIP packet although it has bits. It may also pass
 * over the TNT packet in front of a TIP, and keep the bits.
 */
static void note_packet(struct ptc_replay *r, struct ptc_packet_cursor *f, size_t n, bool empty,
			enum pt_insn_class iclass)
{
	size_t len = 0;
	int bits = -1;

	if (ptc_packet_cursor_has_tnt(f)) {
		len = ptc_packet_cursor_tnt_len(f);
		f->word = ptc_packet_cursor_word(f->next);
		if (iclass == ptic_cond_jump || iclass == ptic_return)
			bits = ptc_pkt_tnt_bits(f->next) - 1;
	} else if (ptc_packet_cursor_has_tip(f)) {
		len = ptc_pkt_ip_len(f->next[0]);
		bits = empty ? 0 : -1;
		r->quiet.fup = false; /* the FUP belonged to this TIP */
	}
	if (may_have_fup(f->next + len, f->next + n))
		r->quiet.fup = true;
	f->fup = r->quiet.fup;
	/*
	 * If nothing is behind this packet, or behind the one before it, the time has not changed.
	 */
	if (n != len || r->quiet.lags)
		look_at_time(r);
	r->quiet.lags = f->late = n != len;
	ptc_packet_cursor_go_on(f, f->next + n, bits);
}

/* Returns from where on the decoder must be asked for its position. */
static const uint8_t *feed_limit(const struct ptc_replay *r)
{
	const size_t len = span_of(r)->len;
	size_t at = len < PTC_PACKET_CURSOR_MARGIN ? 0 : len - PTC_PACKET_CURSOR_MARGIN;

	if (at > r->psbs.check)
		at = r->psbs.check;
	if (at > r->window.near)
		at = r->window.near;
	if (at > next_stop(r))
		at = next_stop(r);
	if (r->conf.clock.valid)
		at = ptc_time_bound_limit(&r->time.ahead, r->span, at);
	return r->window.bytes + at;
}

struct ptc_packet_cursor ptc_replay_feed(const struct ptc_replay *r)
{
	struct ptc_packet_cursor f = { .next = r->window.bytes + r->place.off,
				       .limit = feed_limit(r),
				       .word = r->quiet.word,
				       .bits = r->quiet.bits,
				       .hold = 1,
				       .calls = r->quiet.calls,
				       .late = r->quiet.lags,
				       .fup = r->quiet.fup };

	if (f.next >= f.limit)
		ptc_packet_cursor_ask(&f);
	return f;
}

void ptc_replay_look_ahead(struct ptc_replay *r, const struct pt_block *b, bool empty,
			   struct ptc_packet_cursor *ret)
{
	const size_t raw = r->place.raw;
	const uint64_t bound = r->time.bound;

	move_on(r);
	judge_block(r, b, raw);
	if (r->place.off > r->psbs.check)
		ptc_replay_pass_psbs(r);
	ptc_replay_look_at_bound(r);
	if (r->time.bound != bound)
		r->quiet.lags = true;
	*ret = (struct ptc_packet_cursor){
		.bits = -1, .next = window_bytes_at(r, raw), .late = true, .fup = r->quiet.fup
	};
	ret->limit = feed_limit(r);
	if (r->place.raw > raw)
		note_packet(r, ret, r->place.raw - raw, empty, b->iclass);
	else if (r->quiet.lags)
		look_at_time(r);
	/*
	 * In a graft the decoder is not at this position. A PSB that was read ends what it takes.
	 */
	if (ret->next != r->window.bytes + r->place.off || ptc_replay_psb_ahead(r) < SIZE_MAX)
		ptc_packet_cursor_ask(ret);
}
