/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a branch stack and as the branches of its thread. Asserted: each entry has a
 * verdict. Each entry maps to a step, and older entries to older steps. An exact entry equals its
 * step. The same holds for stacks of call-stack mode. A stack found without alignment gets the same
 * result as from alignment.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/lbr/candidates.h"
#include "decode/lbr/compare_calls.h"
#include "fuzz.h"
#include "ptcap/kind.h"

enum { ENTRIES = 24, STEPS = 200, ADDRESSES = 16, FLAGS = 32 };

static void check_entries(const struct ptc_align_in *in, const struct ptc_align_entry *out)
{
	size_t i, last = in->nsteps;

	for (i = 0; i < in->n; i++) {
		const struct ptc_align_entry *v = &out[i];
		const bool ordered = v->verdict != PTC_VERDICT_ORDER &&
				     v->verdict != PTC_VERDICT_AMBIGUOUS;

		CHECK(v->verdict < PTC_VERDICT_COUNT);
		CHECK(v->step == PTC_ALIGN_NONE || v->step < in->nsteps);
		CHECK(v->missing <= in->nsteps);
		if (v->verdict == PTC_VERDICT_EXACT) {
			CHECK(v->step != PTC_ALIGN_NONE);
			CHECK(in->steps[v->step].from == in->entries[i].from);
			CHECK(in->steps[v->step].to == in->entries[i].to);
			CHECK(in->steps[v->step].flags & PTC_STEP_WANTED);
		}
		if (v->step == PTC_ALIGN_NONE || !ordered)
			continue;
		CHECK(v->step < last);
		last = v->step;
	}
}

/* Uses few addresses, because entries and branches must often match. */
static uint64_t address(uint8_t byte)
{
	return (UINT64_C(0x1000) * (byte % ADDRESSES)) | (byte >= 0xf0 ? UINT64_C(1) << 63 : 0);
}

static size_t take_entries(struct ptc_cur *c, struct ptc_branch *e, size_t most)
{
	size_t n = 0;
	uint8_t from, to, flags;

	while (n < most && ptc_cur_u8(c, &from) && ptc_cur_u8(c, &to) && ptc_cur_u8(c, &flags))
		e[n++] = (struct ptc_branch){ .from = address(from),
					      .to = address(to),
					      .type = flags & 15,
					      .predicted = flags & 16 };
	return n;
}

static bool take_step(struct ptc_cur *c, struct ptc_step *s)
{
	uint8_t from, to, kind, flags;

	if (!ptc_cur_u8(c, &from) || !ptc_cur_u8(c, &to) || !ptc_cur_u8(c, &kind) ||
	    !ptc_cur_u8(c, &flags))
		return false;
	*s = (struct ptc_step){ .from = address(from),
				.to = address(to),
				.kind = kind % PTC_KIND_COUNT,
				.flags = flags % FLAGS };
	if (s->flags & PTC_STEP_GAP)
		*s = (struct ptc_step){ .kind = kind % 2, .flags = PTC_STEP_GAP };
	else if (!s->from || !s->to)
		s->flags &= (uint8_t)~PTC_STEP_WANTED;
	return true;
}

static void run_calls(struct ptc_align *a, struct ptc_thread_history_thread *t,
		      struct ptc_align_in in, size_t first)
{
	struct ptc_align_entry out[ENTRIES];
	struct ptc_compare_calls c = { .now = { .n = 0 } };
	struct ptc_align_result all;

	CHECK(!ptc_compare_calls_run(&c, a, t, first, &in, out, &all));
	check_entries(&in, out);
	ptc_compare_calls_release(&c);
}

/* A match found without alignment must equal the result of alignment. */
static void run_place(struct ptc_align *a, struct ptc_thread_history_thread *t,
		      struct ptc_align_in in, uint8_t options)
{
	const struct ptc_place p = {
		.wants = { .kinds = ~(uint64_t)(options >> 4), .user = true, .kernel = true },
		.ip = in.n ? in.entries[0].to + 1 : 0,
		.since = options,
	};
	struct ptc_align_entry quick[ENTRIES], out[ENTRIES];
	struct ptc_align_result found, all;
	size_t i, first;

	for (i = 0; i < t->n; i++) {
		t->steps[i].time = i;
		t->keys[i] = ptc_thread_history_key(t->steps[i].from, t->steps[i].to);
	}
	if (!ptc_place_exact(&p, t, &in, quick, &found))
		return;
	first = ptc_place_steps(&p, t, in.n);
	in.steps = t->steps + first;
	in.nsteps = t->n - first;
	CHECK(!ptc_align_run(a, &in, out, &all));
	CHECK(found.cost == all.cost && found.candidates == all.candidates);
	CHECK(found.fits == all.fits && found.shift == all.shift);
	for (i = 0; i < in.n; i++)
		CHECK(quick[i].verdict == out[i].verdict && quick[i].step == out[i].step + first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_branch entries[ENTRIES];
	struct ptc_step steps[STEPS];
	uint8_t keys[STEPS];
	struct ptc_thread_history_thread t = { .steps = steps, .keys = keys };
	struct ptc_align a = { .cap = 0 };
	struct ptc_align_in in = { .entries = entries, .steps = steps };
	struct ptc_align_entry out[ENTRIES];
	struct ptc_align_result all;
	uint8_t options, n;

	if (!ptc_cur_u8(&c, &options) || !ptc_cur_u8(&c, &n))
		return 0;
	in.n = take_entries(&c, entries, n % ENTRIES);
	while (t.n < STEPS && take_step(&c, &steps[t.n]))
		t.n++;
	in.nsteps = t.n;
	in.begins = options & 1;
	in.types = options & 2;
	in.flags = options & 4;
	CHECK(!ptc_align_run(&a, &in, out, &all));
	check_entries(&in, out);
	run_calls(&a, &t, in, t.n ? options % t.n : 0);
	run_place(&a, &t, in, options);
	ptc_live_release(&t.live);
	ptc_align_release(&a);
	return 0;
}
