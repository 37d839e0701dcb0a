/* SPDX-License-Identifier: MIT */
#include "decode/archive/state_code.h"

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/used_pages.h"
#include "decode/session/decoder.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"
#include "ptcap/crash.h"

/*
 * Code that is read around an address: the call in front of a return address, the code that a
 * signal handler returns to, and the instructions around the newest one.
 */
enum { BEFORE = 64, BEHIND = 64, WORD = 8 };

static void note_around(const struct ptc_addrspace *as, uint64_t ip)
{
	const struct ptc_range *r = ptc_addrspace_find(as, ip);
	uint64_t from, end;

	if (!r || !r->file)
		return;
	from = ip - r->start < BEFORE ? r->start : ip - BEFORE;
	end = r->end - ip < BEHIND ? r->end : ip + BEHIND;
	ptc_used_pages_note(r->file, r->off + (from - r->start), end - from);
}

static const struct ptc_addrspace *addrspace_of(const struct ptc_decode *d, uint64_t pid)
{
	const struct ptc_proc *p = pid <= INT32_MAX ? ptc_decode_process(d, (int32_t)pid) : NULL;

	return p ? &p->as : NULL;
}

static void note_memory(const struct ptc_addrspace *as, struct ptc_cur bytes)
{
	uint64_t word;

	while (ptc_cur_le64(&bytes, &word))
		note_around(as, word);
}

static void note_crash_record(const struct ptc_decode *d, const struct ptc_crash *c)
{
	const struct ptc_addrspace *as;

	if (c->kind == PTC_CRASH_THREAD) {
		as = addrspace_of(d, c->u.thread.pid);
		if (as)
			note_around(as, c->u.thread.regs[PTC_REG_RIP]);
	} else if (c->kind == PTC_CRASH_MEMORY) {
		struct ptc_cur bytes = c->bytes;

		as = addrspace_of(d, c->u.memory.pid);
		if (as && ptc_cur_skip(&bytes, -c->u.memory.addr % WORD))
			note_memory(as, bytes);
	}
}

int ptc_state_code_note(struct ptc_decode *d, struct ptc_err *err)
{
	struct ptc_crash state;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int r, found = 0;

	while ((r = ptc_file_next(d->in.file, &pos, &rec, err)) > 0) {
		if (rec.type != PTC_REC_HEADER_EVENT_TYPE ||
		    ptc_crash_parse(&rec, &state, err) <= 0)
			continue;
		found = 1;
		note_crash_record(d, &state);
	}
	return r < 0 ? r : found;
}
