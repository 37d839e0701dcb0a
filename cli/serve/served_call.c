/* SPDX-License-Identifier: MIT */
#include "cli/serve/served_call.h"

void ptc_served_call_put(struct ptc_served_call_codec *c, const struct ptc_served_call *call,
			 struct ptc_buf *b)
{
	const struct ptc_served_call *last = &c->last;

	ptc_put_difference(b, call->number, last->number);
	ptc_put_difference(b, call->depth, last->depth);
	ptc_put_leb128(b, call->function);
	ptc_put_leb128(b, call->site);
	ptc_put_leb128(b, call->how);
	ptc_put_difference(b, call->end.insns, last->end.insns);
	ptc_put_difference(b, call->end.time_ns, last->end.time_ns);
	ptc_put_leb128(b, call->end.insns - call->begin.insns);
	ptc_put_leb128(b, call->end.time_ns - call->begin.time_ns);
	ptc_put_leb128(b, call->calls);
	if (call->calls) {
		ptc_put_leb128(b, call->inside.insns);
		ptc_put_leb128(b, call->inside.time_ns);
	}
	c->last = *call;
}

bool ptc_served_call_get(struct ptc_served_call_codec *c, struct ptc_numbers *from,
			 struct ptc_served_call *ret)
{
	const struct ptc_served_call *last = &c->last;
	struct ptc_served_call call = { .number = ptc_numbers_behind(from, last->number) };

	call.depth = (uint32_t)ptc_numbers_behind(from, last->depth);
	call.function = (uint32_t)ptc_numbers_next(from);
	call.site = (uint32_t)ptc_numbers_next(from);
	call.how = (uint8_t)ptc_numbers_next(from);
	call.end.insns = ptc_numbers_behind(from, last->end.insns);
	call.end.time_ns = ptc_numbers_behind(from, last->end.time_ns);
	call.begin.insns = call.end.insns - ptc_numbers_next(from);
	call.begin.time_ns = call.end.time_ns - ptc_numbers_next(from);
	call.calls = ptc_numbers_next(from);
	if (call.calls) {
		call.inside.insns = ptc_numbers_next(from);
		call.inside.time_ns = ptc_numbers_next(from);
	}
	if (from->failed)
		return false;
	c->last = *ret = call;
	return true;
}

void ptc_served_cell_put(struct ptc_served_cell_codec *c, const struct ptc_served_cell *cell,
			 struct ptc_buf *b)
{
	const struct ptc_served_cell *last = &c->last;

	ptc_put_difference(b, cell->number, last->number);
	ptc_put_difference(b, cell->depth, last->depth);
	ptc_put_leb128(b, cell->function);
	ptc_put_leb128(b, cell->how);
	ptc_put_difference(b, cell->end, last->end);
	ptc_put_leb128(b, cell->end - cell->begin);
	ptc_put_leb128(b, cell->count);
	if (cell->count > 1) {
		ptc_put_leb128(b, cell->busy);
		ptc_put_leb128(b, cell->longest);
	}
	c->last = *cell;
}

bool ptc_served_cell_get(struct ptc_served_cell_codec *c, struct ptc_numbers *from,
			 struct ptc_served_cell *ret)
{
	const struct ptc_served_cell *last = &c->last;
	struct ptc_served_cell cell = { .number = ptc_numbers_behind(from, last->number) };

	cell.depth = (uint32_t)ptc_numbers_behind(from, last->depth);
	cell.function = (uint32_t)ptc_numbers_next(from);
	cell.how = (uint8_t)ptc_numbers_next(from);
	cell.end = ptc_numbers_behind(from, last->end);
	cell.begin = cell.end - ptc_numbers_next(from);
	cell.count = ptc_numbers_next(from);
	cell.busy = cell.longest = cell.end - cell.begin;
	if (cell.count > 1) {
		cell.busy = ptc_numbers_next(from);
		cell.longest = ptc_numbers_next(from);
	}
	if (from->failed)
		return false;
	c->last = *ret = cell;
	return true;
}

struct ptc_served_cell ptc_served_cell_of(const struct ptc_served_call *call, int axis)
{
	const uint64_t begin = axis ? call->begin.time_ns : call->begin.insns;
	const uint64_t end = axis ? call->end.time_ns : call->end.insns;

	return (struct ptc_served_cell){ .number = call->number,
					 .depth = call->depth,
					 .function = call->function,
					 .how = call->how,
					 .begin = begin,
					 .end = end,
					 .count = 1,
					 .busy = end - begin,
					 .longest = end - begin };
}

void ptc_served_cell_merge(struct ptc_served_cell *to, const struct ptc_served_cell *from)
{
	if (from->longest > to->longest) {
		to->number = from->number;
		to->function = from->function;
		to->how = from->how;
		to->longest = from->longest;
	}
	if (from->end > to->end)
		to->end = from->end;
	to->count += from->count;
	to->busy += from->busy;
}
