/* SPDX-License-Identifier: MIT */
#include "decode/sideband/queue_map.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "auxtrace/record/sideband.h"
#include "base/grow.h"

void ptc_queue_map_release(struct ptc_queue_map *m)
{
	free(m->ids);
	ptc_idmap_release(&m->of_tid);
	ptc_idmap_release(&m->of_cpu);
	*m = (struct ptc_queue_map){ .n = 0 };
}

bool ptc_queue_map_add(struct ptc_queue_map *m, int32_t tid, int32_t cpu)
{
	struct ptc_idmap *of = tid != -1 ? &m->of_tid : &m->of_cpu;
	const int32_t id = tid != -1 ? tid : cpu;

	if (!ptc_grow(&m->ids, &m->cap, m->n + 1, sizeof(*m->ids)))
		return false;
	if (ptc_idmap_find(of, id) == SIZE_MAX && !ptc_idmap_add(of, id, m->n))
		return false;
	m->ids[m->n++] = (struct ptc_queue_id){ tid, cpu };
	return true;
}

size_t ptc_queue_map_find(const struct ptc_queue_map *m, const struct ptc_sample_id *id)
{
	size_t i = SIZE_MAX, of_cpu;

	if (id->has & PERF_SAMPLE_TID && id->tid != -1)
		i = ptc_idmap_find(&m->of_tid, id->tid);
	if (id->has & PERF_SAMPLE_CPU) {
		of_cpu = ptc_idmap_find(&m->of_cpu, (int32_t)id->cpu);
		i = of_cpu < i ? of_cpu : i;
	}
	return i == SIZE_MAX && m->n ? 0 : i;
}
