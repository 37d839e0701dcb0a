/* SPDX-License-Identifier: MIT */
#include "decode/lbr/jcc_to_next.h"

#include <string.h>

#include "arch/insn.h"
#include "decode/image/addrspace.h"
#include "decode/lbr/kmp.h"

enum { SHORTEST = 2 }; /* bytes of the shortest jcc */

static bool is_onward(const struct ptc_addrspace *as, const struct ptc_branch *e)
{
	uint8_t bytes[PTC_INSN_MAX];
	struct ptc_insn insn;
	size_t n;

	if (e->to - e->from < SHORTEST || e->to - e->from > PTC_INSN_MAX)
		return false;
	n = ptc_addrspace_read(as, e->from, bytes, sizeof(bytes));
	return ptc_insn_decode(PTC_MODE_64, bytes, n, e->from, &insn) == PTC_INSN_OK &&
	       insn.kind == PTC_KIND_JCC && insn.target == e->to && e->from + insn.len == e->to;
}

size_t ptc_onward_take(struct ptc_onward *o, const struct ptc_addrspace *as,
		       struct ptc_branch *entries, size_t n)
{
	size_t i, left = 0;

	o->n = 0;
	for (i = 0; i < n; i++) {
		if (!as || !is_onward(as, &entries[i])) {
			entries[left++] = entries[i];
			continue;
		}
		o->items[o->n].at = i;
		o->items[o->n++].entry = entries[i];
	}
	return left;
}

/*
 * Returns true if @ip ran behind step @older and in front of @newer, the next step that the stack
 * has. PTC_ALIGN_NONE: the stack has no such step.
 */
static bool ran(const struct ptc_step *steps, size_t nsteps, const struct ptc_wants *wants,
		size_t older, size_t newer, uint64_t ip)
{
	size_t i = older != PTC_ALIGN_NONE ? older : newer;

	if (older == PTC_ALIGN_NONE) /* go back as far as the filter hides branches */
		while (i && (i == newer || !ptc_wants_step(wants, &steps[i])) &&
		       !(steps[i].flags & PTC_STEP_GAP))
			i--;
	for (; i < nsteps && i != newer; i++) {
		const bool last = i + 1 == nsteps || !steps[i + 1].from;

		if (!(steps[i].flags & PTC_STEP_GAP) && steps[i].to && steps[i].to <= ip &&
		    (last || ip < steps[i + 1].from))
			return true;
		if (i != older && newer == PTC_ALIGN_NONE && ptc_wants_step(wants, &steps[i]))
			break;
	}
	return false;
}

static struct ptc_align_entry
judge_jcc_entry(const struct ptc_onward *o, size_t k, const struct ptc_align_in *in,
		const struct ptc_wants *wants, const struct ptc_step *steps, size_t nsteps,
		const struct ptc_align_entry *newer, const struct ptc_align_entry *older)
{
	const struct ptc_branch *e = &o->items[k].entry;
	const struct ptc_step s = { .from = e->from, .to = e->to, .kind = PTC_KIND_JCC };
	const size_t none = PTC_ALIGN_NONE;
	struct ptc_align_entry ret = { .verdict = PTC_VERDICT_AMBIGUOUS, .step = none };
	const size_t from = older ? older->step : none, to = newer ? newer->step : none;

	if (older && !ptc_verdict_is_judged((enum ptc_verdict)older->verdict))
		ret = (struct ptc_align_entry){ .verdict = older->verdict,
						.cause = older->cause,
						.step = none };
	else if (from == none && (to == none || !to)) /* no neighbour to compare with */
		return ret;
	else if (!ran(steps, nsteps, wants, from, to, e->from))
		ret.verdict = PTC_VERDICT_ABSENT;
	else if (!ptc_wants_step(wants, &s))
		ret.verdict = PTC_VERDICT_CLASS;
	else
		ret.verdict = (uint8_t)ptc_kmp_verdict(in, ptc_kmp_predicts(in), e, &s);
	return ret;
}

void ptc_onward_put(const struct ptc_onward *o, const struct ptc_align_in *in,
		    const struct ptc_wants *wants, const struct ptc_step *steps, size_t nsteps,
		    struct ptc_branch *entries, struct ptc_align_entry *verdicts)
{
	size_t n = in->n, k = o->n;

	/* Starts at the oldest entry: inserting an entry moves only the older entries. */
	while (k--) {
		const size_t left = o->items[k].at - k; /* newer entries, without removed ones */
		const size_t behind = n - left;		/* older entries, with those put back */
		const struct ptc_align_entry *newer = left ? &verdicts[left - 1] : NULL;
		const struct ptc_align_entry *older = NULL;
		struct ptc_align_entry v;
		size_t i;

		for (i = left; i < n && !older; i++)
			if (verdicts[i].step != PTC_ALIGN_NONE ||
			    !ptc_verdict_is_judged((enum ptc_verdict)verdicts[i].verdict))
				older = &verdicts[i];
		v = judge_jcc_entry(o, k, in, wants, steps, nsteps, newer, older);
		memmove(&entries[left + 1], &entries[left], behind * sizeof(*entries));
		memmove(&verdicts[left + 1], &verdicts[left], behind * sizeof(*verdicts));
		entries[left] = o->items[k].entry;
		verdicts[left] = v;
		n++;
	}
}
