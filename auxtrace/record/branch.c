/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/branch.h"

/* Bit positions in the third word, from the least significant. */
enum {
	MISPRED = 0,
	PREDICTED = 1,
	IN_TX = 2,
	ABORT = 3,
	CYCLES = 4,
	TYPE = 20,
	SPEC = 24,
	NEW_TYPE = 26,
	PRIV = 30,
	RESERVED = 33,
};

bool ptc_branches_parse(struct ptc_cur *c, struct ptc_branches *ret)
{
	struct ptc_branches s = { .has_hw_idx = ret->has_hw_idx,
				  .has_counters = ret->has_counters };
	const size_t each = PTC_BRANCH_SIZE + (s.has_counters ? 8u : 0);
	struct ptc_cur pos = *c;

	if (!ptc_cur_le64(&pos, &s.n) || (s.has_hw_idx && !ptc_cur_le64(&pos, &s.hw_idx)) ||
	    s.n > ptc_cur_left(&pos) / each ||
	    !ptc_cur_sub(&pos, (size_t)s.n * PTC_BRANCH_SIZE, &s.entries) ||
	    (s.has_counters && !ptc_cur_sub(&pos, (size_t)s.n * 8, &s.counters)))
		return false;
	*c = pos;
	*ret = s;
	return true;
}

bool ptc_branches_next(struct ptc_branches *s, struct ptc_branch *ret)
{
	struct ptc_branch e = { 0 };
	uint64_t w;

	if (!s->n || !ptc_cur_le64(&s->entries, &e.from) || !ptc_cur_le64(&s->entries, &e.to) ||
	    !ptc_cur_le64(&s->entries, &w) ||
	    (s->has_counters && !ptc_cur_le64(&s->counters, &e.counters)))
		return false;
	e.mispred = w >> MISPRED & 1;
	e.predicted = w >> PREDICTED & 1;
	e.in_tx = w >> IN_TX & 1;
	e.abort = w >> ABORT & 1;
	e.cycles = (uint16_t)(w >> CYCLES);
	e.type = w >> TYPE & 15;
	e.spec = w >> SPEC & 3;
	e.new_type = w >> NEW_TYPE & 15;
	e.priv = w >> PRIV & 7;
	e.reserved = (uint32_t)(w >> RESERVED);
	s->n--;
	*ret = e;
	return true;
}

void ptc_branch_put(struct ptc_buf *b, const struct ptc_branch *e)
{
	ptc_buf_le64(b, e->from);
	ptc_buf_le64(b, e->to);
	ptc_buf_le64(b, (uint64_t)e->mispred << MISPRED | (uint64_t)e->predicted << PREDICTED |
				(uint64_t)e->in_tx << IN_TX | (uint64_t)e->abort << ABORT |
				(uint64_t)e->cycles << CYCLES | (uint64_t)(e->type & 15) << TYPE |
				(uint64_t)(e->spec & 3) << SPEC |
				(uint64_t)(e->new_type & 15) << NEW_TYPE |
				(uint64_t)(e->priv & 7) << PRIV |
				(uint64_t)e->reserved << RESERVED);
}

void ptc_branches_put(struct ptc_buf *b, const struct ptc_branches *s)
{
	const size_t len = ptc_cur_left(&s->entries);
	const size_t n = len / PTC_BRANCH_SIZE;

	if (len % PTC_BRANCH_SIZE || ptc_cur_left(&s->counters) != (s->has_counters ? n * 8 : 0)) {
		b->failed = true;
		return;
	}
	ptc_buf_le64(b, n);
	if (s->has_hw_idx)
		ptc_buf_le64(b, s->hw_idx);
	ptc_buf_put(b, s->entries.pos, len);
	ptc_buf_put(b, s->counters.pos, ptc_cur_left(&s->counters));
}
