/* SPDX-License-Identifier: MIT */
#include "cli/common/cpu_migrations.h"
#include "base/sorted.h"

#include <stdlib.h>

#include <linux/perf_event.h>

/* Make space for one more element of @each bytes in *@items. */
static bool grow_migration_array(void **items, size_t n, size_t *cap, size_t each)
{
	const size_t more = *cap ? 2 * *cap : 16;
	void *p;

	if (*items && n < *cap)
		return true;
	p = reallocarray(*items, more, each);
	if (!p)
		return false;
	*items = p;
	*cap = more;
	return true;
}

/* Returns NULL if out of memory. */
static struct ptc_moves_cpu *cpu_of(struct ptc_moves *m, int32_t cpu)
{
	size_t i;

	for (i = 0; i < m->ncpus; i++)
		if (m->cpus[i].cpu == cpu)
			return &m->cpus[i];
	if (!grow_migration_array((void **)&m->cpus, m->ncpus, &m->cpus_cap, sizeof(*m->cpus)))
		return NULL;
	m->cpus[m->ncpus] = (struct ptc_moves_cpu){ .cpu = cpu };
	return &m->cpus[m->ncpus++];
}

static bool add_run_interval(struct ptc_moves *m, struct ptc_moves_cpu *c,
			     const struct ptc_sample_id *id, uint64_t in)
{
	if (!grow_migration_array((void **)&m->items, m->n, &m->cap, sizeof(*m->items)))
		return false;
	m->items[m->n++] = (struct ptc_move){ id->tid, c->cpu, in, UINT64_MAX };
	c->newest = m->n;
	return true;
}

/* If no OUT record came for the previous thread, it left when the next one came. */
bool ptc_moves_take(struct ptc_moves *m, const struct ptc_sb *sb)
{
	const uint64_t needed = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	const bool out = sb->misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct ptc_moves_cpu *c;
	struct ptc_move *last;

	if ((sb->type != PERF_RECORD_SWITCH && sb->type != PERF_RECORD_SWITCH_CPU_WIDE) ||
	    (sb->id.has & needed) != needed || sb->id.tid <= 0) /* 0: the idle thread */
		return true;
	c = cpu_of(m, (int32_t)sb->id.cpu);
	if (!c)
		return false;
	last = c->newest ? &m->items[c->newest - 1] : NULL;
	if (last && last->out == UINT64_MAX && (!out || last->tid == sb->id.tid)) {
		last->out = sb->id.time;
		if (out)
			return true;
	}
	if (!add_run_interval(m, c, &sb->id, out ? 0 : sb->id.time))
		return false;
	if (out)
		m->items[m->n - 1].out = sb->id.time;
	return true;
}

bool ptc_moves_begin(struct ptc_moves *m, int32_t cpu, uint64_t ns)
{
	struct ptc_moves_cpu *c = cpu_of(m, cpu);

	if (c && ns > c->begin)
		c->begin = ns;
	return c != NULL;
}

static int by_tid(const void *a, const void *b)
{
	const struct ptc_moved *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

bool ptc_moves_settle(struct ptc_moves *m)
{
	size_t i, n = 0;

	free(m->moved);
	m->nmoved = 0;
	m->moved = calloc(m->n + 1, sizeof(*m->moved));
	if (!m->moved)
		return false;
	for (i = 0; i < m->n; i++) {
		const struct ptc_move *r = &m->items[i];
		const struct ptc_moves_cpu *c = cpu_of(m, r->cpu);

		if (c && r->in < c->begin)
			m->moved[n++] = (struct ptc_moved){ r->tid, r->cpu,
							    r->out < c->begin ? r->out : c->begin };
	}
	qsort(m->moved, n, sizeof(*m->moved), by_tid);
	for (i = 0; i < n; i++) /* the last of each thread counts */
		if (i + 1 == n || m->moved[i + 1].tid != m->moved[i].tid)
			m->moved[m->nmoved++] = m->moved[i];
	return true;
}

const struct ptc_moved *ptc_moves_find(const struct ptc_moves *m, int32_t tid)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, m->nmoved, m->moved[i].tid < tid);

	return at < m->nmoved && m->moved[at].tid == tid ? &m->moved[at] : NULL;
}

void ptc_moves_release(struct ptc_moves *m)
{
	free(m->items);
	free(m->cpus);
	free(m->moved);
	*m = (struct ptc_moves){ .n = 0 };
}
