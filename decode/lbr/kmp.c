/* SPDX-License-Identifier: MIT */
#include "decode/lbr/kmp.h"

#include "ptcap/branchsel.h"

static bool is_same_entry(const struct ptc_branch *a, const struct ptc_branch *b)
{
	return a->from == b->from && a->to == b->to;
}

void ptc_kmp_init(struct ptc_kmp *x, const struct ptc_branch *entries, size_t n)
{
	size_t i, k = 0;

	x->entries = entries;
	x->n = n;
	x->state = 0;
	x->fed = 0;
	x->back[0] = x->back[1] = 0;
	for (i = 1; i < n; i++) {
		while (k && !is_same_entry(&entries[i], &entries[k]))
			k = x->back[k];
		k += is_same_entry(&entries[i], &entries[k]);
		x->back[i + 1] = (uint16_t)k;
	}
}

bool ptc_kmp_predicts(const struct ptc_align_in *in)
{
	size_t i;

	for (i = 0; i < in->n && in->flags; i++)
		if (in->entries[i].predicted || in->entries[i].mispred)
			return true;
	return false;
}

enum ptc_verdict ptc_kmp_verdict(const struct ptc_align_in *in, bool predicts,
				 const struct ptc_branch *e, const struct ptc_step *s)
{
	const uint8_t type = ptc_branchsel_type(s->kind);

	if (in->types && type && e->type != PERF_BR_EXTEND_ABI && e->type != type)
		return e->type == PERF_BR_UNKNOWN ? PTC_VERDICT_FLAG : PTC_VERDICT_TYPE;
	if (predicts && !e->predicted && !e->mispred)
		return PTC_VERDICT_FLAG;
	return PTC_VERDICT_EXACT;
}

void ptc_kmp_read(const struct ptc_kmp *x, const struct ptc_align_in *in,
		  const struct ptc_step *steps, struct ptc_align_entry *ret_entries)
{
	const bool predicts = ptc_kmp_predicts(in);
	size_t i;

	for (i = 0; i < in->n; i++) {
		const size_t s = ptc_kmp_at(x, i);

		ret_entries[i] = (struct ptc_align_entry){
			.verdict =
				(uint8_t)ptc_kmp_verdict(in, predicts, &in->entries[i], &steps[s]),
			.step = s,
		};
	}
}
