/* SPDX-License-Identifier: MIT */
#include "capture/step/snapshot_points.h"

#include "capture/step/task.h"

void ptc_crossings_init(struct ptc_crossings *c, const struct ptc_record_opts *opts)
{
	*c = (struct ptc_crossings){ .n = opts->snapshot.nat };
	for (size_t i = 0; i < c->n; i++) {
		c->at[i] = ptc_placed_of(&opts->snapshot.at[i].place);
		c->count[i] = opts->snapshot.at[i].count ? opts->snapshot.at[i].count : 1;
	}
}

void ptc_crossings_resolve(const struct ptc_crossings *c, struct ptc_mm *mm)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		mm->at[i] = ptc_placed_at(&c->at[i], &mm->maps);
}

bool ptc_crossings_reached(struct ptc_crossings *c, struct ptc_task *k)
{
	bool reached = false;
	size_t i;

	if (!c->n || k->at_place || k->rounds || k->mid_call || k->exec_pending || !k->mm)
		return false;
	for (i = 0; i < c->n; i++)
		if (k->ip == k->mm->at[i])
			reached |= ++c->seen[i] % c->count[i] == 0;
	k->at_place = reached;
	c->met |= reached;
	return reached;
}
