/* SPDX-License-Identifier: MIT */
#include "decode/timeline/change_preview.h"

#include <stdlib.h>
#include <string.h>

#include "decode/session/decoder.h"

static void drop_procs(struct ptc_preview *p)
{
	while (p->nprocs)
		ptc_addrspace_release(&p->procs[--p->nprocs].as);
}

void ptc_preview_release(struct ptc_preview *p)
{
	drop_procs(p);
	free(p->procs);
	free(p->v);
	*p = (struct ptc_preview){ .d = NULL };
}

static bool allocate_preview(struct ptc_preview *p)
{
	if (!p->v)
		p->v = malloc(PTC_PREVIEW_EVENTS * sizeof(*p->v));
	if (!p->procs)
		p->procs = malloc(PTC_PREVIEW_PROCS * sizeof(*p->procs));
	return p->v && p->procs;
}

/* Inserts @ev by time. Added events are passed last, so at equal times they stay last. */
static bool insert_event_by_time(void *ctx, const struct ptc_event *ev)
{
	struct ptc_preview *p = ctx;
	size_t i = p->n;

	if (p->n == PTC_PREVIEW_EVENTS)
		return false;
	for (; i && p->v[i - 1].time > ev->time; i--)
		p->v[i] = p->v[i - 1];
	p->v[i] = *ev;
	p->n++;
	return true;
}

static struct ptc_proc *find_previewed_proc(const struct ptc_preview *p, int32_t pid)
{
	size_t i;

	for (i = 0; i < p->nprocs; i++)
		if (p->procs[i].pid == pid)
			return &p->procs[i];
	return NULL;
}

/* Copies a process. The copy has no state number, so no other thread shares its cache. */
static struct ptc_proc *copy(struct ptc_preview *p, const struct ptc_turn *turn)
{
	const struct ptc_addrspace *from = turn->as;
	struct ptc_proc *proc;

	if (p->nprocs == PTC_PREVIEW_PROCS)
		return NULL;
	proc = &p->procs[p->nprocs];
	*proc = (struct ptc_proc){ .pid = turn->pid, .as = { .kernel = from->kernel } };
	ptc_addrspace_copy(&proc->as, from);
	proc->as.version = from->version;
	proc->as.state = 0;
	memcpy(proc->as.changes, from->changes, sizeof(from->changes));
	p->nprocs++;
	return proc;
}

static bool will_change(const struct ptc_preview *p, int32_t pid)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (ptc_sideband_code_of(&p->v[i].sb) == pid)
			return true;
	return false;
}

static bool copy_all(struct ptc_preview *p, struct ptc_turns *t)
{
	struct ptc_proc *proc;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!will_change(p, t->v[i].pid))
			continue;
		proc = find_previewed_proc(p, t->v[i].pid);
		if (!proc)
			proc = copy(p, &t->v[i]);
		if (!proc)
			return false;
		t->v[i].as = &proc->as;
	}
	return true;
}

bool ptc_preview_begin(struct ptc_preview *p, const struct ptc_calm *w, struct ptc_turns *t,
		       uint64_t time)
{
	const uint64_t last = t->until && time >= t->until ? t->until - 1 : time;

	p->n = p->next = 0;
	if (!w->d || !t->until || !allocate_preview(p) ||
	    !ptc_calm_changes(w, t, last, insert_event_by_time, p) || !p->n || !copy_all(p, t)) {
		drop_procs(p);
		return false;
	}
	p->d = w->d;
	t->changes = true;
	return true;
}

void ptc_preview_end(struct ptc_preview *p)
{
	drop_procs(p);
	p->d = NULL;
}

bool ptc_preview_move(struct ptc_preview *p, uint64_t time, int32_t pid, bool *ret_changed)
{
	*ret_changed = false;
	for (; p->next < p->n && p->v[p->next].time <= time; p->next++) {
		const struct ptc_sb *sb = &p->v[p->next].sb;
		struct ptc_proc *proc = find_previewed_proc(p, ptc_sideband_code_of(sb));

		if (!proc)
			continue;
		if (!ptc_sideband_change(&p->d->sideband, &p->d->procs, proc, sb))
			return false;
		*ret_changed |= proc->pid == pid;
	}
	return true;
}
