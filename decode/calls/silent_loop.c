/* SPDX-License-Identifier: MIT */
#include "decode/calls/silent_loop.h"

#include "arch/insn.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"

enum { INSNS_MAX = 1 << 16 };

struct walker {
	ptc_silent_loop_read *read;
	void *ctx;
	uint64_t ip;
	bool called; /* the last step was a call */
};

/* Go on by one instruction. Returns false if the next address needs trace, or has no code. */
static bool step_without_trace(struct walker *w)
{
	uint8_t bytes[PTC_INSN_MAX];
	const size_t n = w->read(w->ctx, w->ip, bytes, sizeof(bytes));
	struct ptc_insn insn;

	if (!n || ptc_insn_decode(PTC_MODE_64, bytes, n, w->ip, &insn) != PTC_INSN_OK)
		return false;
	w->called = insn.kind == PTC_KIND_CALL;
	if (insn.kind == PTC_KIND_NONE)
		w->ip += insn.len;
	else if (insn.kind == PTC_KIND_JMP || insn.kind == PTC_KIND_CALL)
		w->ip = insn.target;
	else
		return false;
	return true;
}

/* Brent's algorithm: move to an instruction of the loop that @ip leads into. False: no loop. */
static bool walk_into_loop(struct walker *w)
{
	uint64_t mark = w->ip;
	size_t steps = 0, limit = 2, n;

	for (n = 0; n < INSNS_MAX && step_without_trace(w); n++) {
		if (w->ip == mark)
			return true;
		if (++steps == limit) {
			mark = w->ip;
			limit *= 2;
			steps = 0;
		}
	}
	return false;
}

struct ptc_silent_loop ptc_silent_loop_find(ptc_silent_loop_read *read, void *ctx, uint64_t ip,
					    uint64_t through)
{
	struct walker w = { .read = read, .ctx = ctx, .ip = ip };
	struct ptc_silent_loop c = { .ip = 0 };
	bool passed = !through;

	if (!walk_into_loop(&w))
		return c;
	c.ip = w.ip;
	do {
		passed |= w.ip == through;
		if (!step_without_trace(&w)) /* the code has changed */
			return (struct ptc_silent_loop){ .ip = 0 };
		c.calls |= w.called;
		c.insns++;
	} while (w.ip != c.ip);
	return passed ? c : (struct ptc_silent_loop){ .ip = 0 };
}

static size_t read_mapped(void *ctx, uint64_t ip, uint8_t *ret, size_t len)
{
	return ptc_addrspace_read(ctx, ip, ret, len);
}

struct ptc_silent_loop ptc_silent_loop_behind(const struct ptc_decode *d, int32_t pid, uint64_t ip)
{
	struct ptc_proc *p = ptc_decode_process(d, pid);

	return p && ip ? ptc_silent_loop_find(read_mapped, &p->as, ip, 0) :
			 (struct ptc_silent_loop){ .ip = 0 };
}
