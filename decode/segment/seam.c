/* SPDX-License-Identifier: MIT */
#include "decode/segment/seam.h"

static bool same_spot(struct ptc_spot a, struct ptc_spot b)
{
	return a.span == b.span && a.off == b.off;
}

static bool same_place(const struct ptc_seam *a, const struct ptc_seam *b)
{
	return same_spot(a->spot, b->spot) && a->from == b->from && a->floor == b->floor &&
	       a->raw == b->raw && a->prev_off == b->prev_off && a->prev2_off == b->prev2_off &&
	       a->psb == b->psb && a->next_mark == b->next_mark;
}

static bool same_time(const struct ptc_seam *a, const struct ptc_seam *b)
{
	size_t i;

	for (i = 0; i < PTC_AHEAD_FEW; i++)
		if (!same_spot(a->ahead[i].spot, b->ahead[i].spot) ||
		    a->ahead[i].ns != b->ahead[i].ns)
			return false;
	return a->now == b->now && a->prev_now == b->prev_now && a->told == b->told &&
	       a->bound == b->bound && a->ahead_last == b->ahead_last;
}

static bool same_trail(const struct ptc_seam *a, const struct ptc_seam *b)
{
	return a->last_ip == b->last_ip && a->last_time == b->last_time &&
	       a->last_kind == b->last_kind && a->last_len == b->last_len &&
	       a->loop_mark == b->loop_mark && a->loop_steps == b->loop_steps &&
	       a->loop_limit == b->loop_limit;
}

bool ptc_seam_agrees(const struct ptc_seam *a, const struct ptc_seam *b)
{
	return same_place(a, b) && same_time(a, b) && same_trail(a, b) && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->mode == b->mode &&
	       a->as_version == b->as_version;
}
