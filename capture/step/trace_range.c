/* SPDX-License-Identifier: MIT */
#include "capture/step/trace_range.h"

#include "capture/step/task.h"

void ptc_zone_init(struct ptc_zone *z, const struct ptc_place *from, const struct ptc_place *to)
{
	*z = (struct ptc_zone){ .from = ptc_placed_of(from),
				.to = ptc_placed_of(to),
				.outside = from != NULL };
}

void ptc_zone_resolve(const struct ptc_zone *z, struct ptc_mm *mm)
{
	mm->from = ptc_placed_at(&z->from, &mm->maps);
	mm->to = ptc_placed_at(&z->to, &mm->maps);
}

bool ptc_zone_left(struct ptc_zone *z, const struct ptc_task *k)
{
	if (!z->to.place || !k->mm || k->ip != k->mm->to || k->exec_pending)
		return false;
	z->over = !z->from.place;
	z->outside = true;
	return true;
}
