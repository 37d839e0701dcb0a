/* SPDX-License-Identifier: MIT */
#include "decode/session/discontinuity.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

bool ptc_discontinuity_keep(struct ptc_discontinuity *j, struct ptc_kept_time kept)
{
	if (!ptc_grow(&j->kept, &j->kept_cap, j->nkept + 1, sizeof(*j->kept)))
		return false;
	j->kept[j->nkept++] = kept;
	if (kept.upto_ns == UINT64_MAX)
		kept.upto_ns = kept.from_ns;
	if (kept.upto_ns > j->until_ns)
		j->until_ns = kept.upto_ns;
	return true;
}

void ptc_discontinuity_rewind(struct ptc_discontinuity *j)
{
	j->head = j->nbreaks = j->nseen = 0;
}

void ptc_discontinuity_release(struct ptc_discontinuity *j)
{
	free(j->kept);
	free(j->breaks);
	free(j->seen);
	*j = (struct ptc_discontinuity){ .nkept = 0 };
}

/* --- which thread comes where --- */

/* Returns the first span that ends at or behind @time on @cpu, or is of a later CPU. */
static size_t first_behind(const struct ptc_discontinuity *j, int32_t cpu, uint64_t time)
{
	const struct ptc_kept_time *k = j->kept;

	return PTC_PARTITION_POINT(i, 0, j->nkept,
				   k[i].cpu < cpu || (k[i].cpu == cpu && k[i].upto_ns < time));
}

/*
 * Was nothing kept of @cpu at @time? Without any trace of @cpu: only if the trace is from samples.
 * *@ret_queue: the queue of its trace.
 */
static bool is_lost(const struct ptc_discontinuity *j, int32_t cpu, uint64_t time,
		    uint32_t *ret_queue)
{
	const size_t i = first_behind(j, cpu, time);

	*ret_queue = (uint32_t)cpu;
	if (i < j->nkept && j->kept[i].cpu == cpu) {
		*ret_queue = j->kept[i].queue;
		return j->kept[i].from_ns > time;
	}
	if (!i || j->kept[i - 1].cpu != cpu)
		return j->samples;
	*ret_queue = j->kept[i - 1].queue;
	return true;
}

/* Thread @tid comes to @cpu or leaves it: it runs there at @time. */
static bool runs(struct ptc_discontinuity *j, uint64_t time, int32_t pid, int32_t tid, uint32_t cpu)
{
	uint32_t queue;

	if (cpu > INT32_MAX || tid <= 0 || !is_lost(j, (int32_t)cpu, time, &queue))
		return true;
	if (j->head == j->nbreaks)
		j->head = j->nbreaks = 0;
	if (!ptc_grow(&j->breaks, &j->breaks_cap, j->nbreaks + 1, sizeof(*j->breaks)))
		return false;
	j->breaks[j->nbreaks++] =
		(struct ptc_discontinuity_break){ time, pid, tid, (int32_t)cpu, queue };
	return true;
}

bool ptc_discontinuity_event(struct ptc_discontinuity *j, const struct ptc_event *ev)
{
	const struct ptc_sb *sb = &ev->sb;

	if (ev->time >= j->until_ns || !(sb->id.has & PERF_SAMPLE_CPU))
		return true;
	switch (sb->type) {
	case PERF_RECORD_ITRACE_START:
		return runs(j, ev->time, sb->u.itrace_start.pid, sb->u.itrace_start.tid,
			    sb->id.cpu);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if ((sb->id.has & PERF_SAMPLE_TID) &&
		    !runs(j, ev->time, sb->id.pid, sb->id.tid, sb->id.cpu))
			return false;
		return sb->type == PERF_RECORD_SWITCH || runs(j, ev->time, sb->u.sw.next_prev_pid,
							      sb->u.sw.next_prev_tid, sb->id.cpu);
	default:
		return true;
	}
}

/* --- which threads were seen --- */

static size_t seen_tid_index(const struct ptc_discontinuity *j, int32_t tid)
{
	return PTC_PARTITION_POINT(i, 0, j->nseen, j->seen[i] < tid);
}

static bool see(struct ptc_discontinuity *j, int32_t tid)
{
	const size_t at = seen_tid_index(j, tid);

	if (at < j->nseen && j->seen[at] == tid)
		return true;
	if (!ptc_grow(&j->seen, &j->seen_cap, j->nseen + 1, sizeof(*j->seen)))
		return false;
	memmove(j->seen + at + 1, j->seen + at, (j->nseen - at) * sizeof(*j->seen));
	j->seen[at] = tid;
	j->nseen++;
	return true;
}

static bool remove_seen_tid(struct ptc_discontinuity *j, int32_t tid)
{
	const size_t at = seen_tid_index(j, tid);

	if (at == j->nseen || j->seen[at] != tid)
		return false;
	j->nseen--;
	memmove(j->seen + at, j->seen + at + 1, (j->nseen - at) * sizeof(*j->seen));
	return true;
}

bool ptc_discontinuity_see(struct ptc_discontinuity *j, const struct ptc_item *items, size_t n,
			   size_t *ret)
{
	const bool any = j->head < j->nbreaks;
	const uint64_t upto = any ? j->breaks[j->head].time : UINT64_MAX;
	int32_t last = -1;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (any && it->time != PTC_NO_TIME && it->time > upto)
			break;
		if (it->type == PTC_ITEM_GAP || it->type == PTC_ITEM_EVENT || it->tid == last)
			continue;
		last = it->tid;
		if (!see(j, last))
			return false;
	}
	*ret = i;
	return true;
}

bool ptc_discontinuity_next(struct ptc_discontinuity *j, uint64_t time, struct ptc_item *ret)
{
	while (j->head < j->nbreaks && j->breaks[j->head].time < time) {
		const struct ptc_discontinuity_break *b = &j->breaks[j->head++];

		if (!remove_seen_tid(j, b->tid))
			continue;
		*ret = (struct ptc_item){ .time = b->time,
					  .pid = b->pid,
					  .tid = b->tid,
					  .cpu = b->cpu,
					  .queue = b->queue,
					  .type = PTC_ITEM_GAP,
					  .cause = PTC_GAP_SNAPSHOT };
		return true;
	}
	return false;
}
