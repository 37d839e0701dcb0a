/* SPDX-License-Identifier: MIT */
#include "decode/sideband/sideband.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "decode/sideband/process.h"

void ptc_sideband_close(struct ptc_sideband *s)
{
	ptc_order_free(s->order);
	s->order = NULL;
	s->has_next = false;
}

void ptc_sideband_release(struct ptc_sideband *s)
{
	ptc_sideband_close(s);
	free(s->added);
	free(s->ids);
	memset(s, 0, sizeof(*s));
}

/* Reads on to the next useful record. Returns 1; 0: none; or PTC_E_*. */
static int read_next(struct ptc_sideband *s, struct ptc_err *err)
{
	struct ptc_rec rec;
	int r;

	s->has_next = false;
	while ((r = ptc_order_next(s->order, &rec, &s->next.time, err)) > 0) {
		if (rec.type >= PTC_REC_USER_START)
			continue;
		r = ptc_sb_parse(&rec, ptc_file_trailer_type(s->file, &rec), &s->next.sb, err);
		if (r < 0)
			return ptc_file_err_name(s->file, err);
		s->has_next = r;
		if (r)
			return 1;
	}
	return r;
}

int ptc_sideband_open(struct ptc_sideband *s, const struct ptc_file *f, bool no_rounds,
		      struct ptc_err *err)
{
	const struct ptc_order_opts opts = { .size = sizeof(opts), .no_rounds = no_rounds };
	int r = ptc_order_new(f, &opts, &s->order, err);

	if (r < 0)
		return r;
	ptc_order_skip_aux(s->order);
	s->file = f;
	s->no_rounds = no_rounds;
	r = read_next(s, err);
	return r < 0 ? r : 0;
}

int ptc_sideband_rewind(struct ptc_sideband *s, struct ptc_err *err)
{
	ptc_sideband_close(s);
	s->next_added = 0;
	return ptc_sideband_open(s, s->file, s->no_rounds, err);
}

/* Compares two names of mappings. The kernel image's name in a mapping has a symbol appended. */
static int compare_names(const char *a, const char *b)
{
	const bool a_image = ptc_kernel_is_image(a), b_image = ptc_kernel_is_image(b);

	if (a_image || b_image)
		return b_image - a_image;
	return strcmp(a, b);
}

static int by_name(const void *pa, const void *pb)
{
	const struct ptc_queue_contexts_id *a = pa, *b = pb;
	const int r = compare_names(a->filename, b->filename);

	return r || a->nr == b->nr ? r : a->nr < b->nr ? -1 : 1;
}

void ptc_sideband_sort_ids(struct ptc_sideband *s)
{
	size_t i, n = 0;

	if (s->nids)
		qsort(s->ids, s->nids, sizeof(*s->ids), by_name);
	for (i = 0; i < s->nids; i++) {
		if (!n || compare_names(s->ids[n - 1].filename, s->ids[i].filename) != 0)
			s->ids[n++] = s->ids[i];
		else if (!ptc_kernel_is_image(s->ids[i].filename) &&
			 !ptc_build_id_same(&s->ids[n - 1].id, &s->ids[i].id))
			s->ids[n - 1].id.len = 0;
	}
	s->nids = n;
}

int ptc_sideband_features(struct ptc_sideband *s, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_build_id_entry e;
	struct ptc_cur c;
	uint64_t off;
	int r;

	if (ptc_file_feature(f, PTC_FEAT_BUILD_ID, &c, &off)) {
		while ((r = ptc_feature_next_build_id(&c, off, &e, err)) > 0) {
			if (!ptc_grow(&s->ids, &s->ids_cap, s->nids + 1, sizeof(*s->ids)))
				return ptc_fail_mem(err);
			s->ids[s->nids] =
				(struct ptc_queue_contexts_id){ e.filename, e.id, s->nids };
			s->nids++;
		}
		if (r < 0)
			return r;
		ptc_sideband_sort_ids(s);
	}
	return 0;
}

static const struct ptc_event *first(const struct ptc_sideband *s)
{
	return ptc_sideband_peek(s, UINT64_MAX);
}

int ptc_sideband_add(struct ptc_sideband *s, const struct ptc_sb *sb, struct ptc_err *err)
{
	struct ptc_event *ev;

	if (!ptc_grow(&s->added, &s->added_cap, s->nadded + 1, sizeof(*s->added)))
		return ptc_fail_mem(err);
	ev = &s->added[s->nadded];
	ev->sb = *sb;
	ev->sb.off = s->nadded++; /* order of arrival */
	ev->time = sb->id.time;
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct ptc_event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->sb.off < b->sb.off ? -1 : 1;
}

void ptc_sideband_sort(struct ptc_sideband *s)
{
	if (s->nadded)
		qsort(s->added, s->nadded, sizeof(*s->added), by_time);
}

const struct ptc_build_id *ptc_sideband_id(const struct ptc_sideband *s,
					   const struct ptc_sb_mmap *m)
{
	size_t at;

	if (m->build_id.len)
		return &m->build_id;
	at = PTC_PARTITION_POINT(i, 0, s->nids, compare_names(s->ids[i].filename, m->filename) < 0);
	if (at == s->nids || compare_names(s->ids[at].filename, m->filename) != 0)
		return NULL;
	return s->ids[at].id.len ? &s->ids[at].id : NULL;
}

static bool is_mode(const struct ptc_sb *sb, uint16_t mode)
{
	return (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == mode;
}

/* Returns the pid of the process whose code @sb maps or patches; -1: none. */
static int32_t code_of(const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return is_mode(sb, PERF_RECORD_MISC_KERNEL) ? -1 : sb->u.mmap.pid;
	case PERF_RECORD_TEXT_POKE:
		return is_mode(sb, PERF_RECORD_MISC_USER) && sb->id.has & PERF_SAMPLE_TID ?
			       sb->id.pid :
			       -1;
	default:
		return -1;
	}
}

/* Applies @sb to the code of @p. */
static bool change_code(const struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_proc *p,
			const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;

	if (sb->type == PERF_RECORD_TEXT_POKE && sb->misc & PTC_SIDEBAND_NAME) {
		ptc_addrspace_rename(&p->as);
		return true;
	}
	if (sb->type == PERF_RECORD_TEXT_POKE)
		return ptc_addrspace_patch(&p->as, sb->u.poke.addr, sb->u.poke.new_bytes.pos,
					   ptc_cur_left(&sb->u.poke.new_bytes));
	if (!(m->prot & PROT_EXEC)) /* data: hides code that was mapped there */
		return ptc_addrspace_map(&p->as, m->addr, m->len, 0, NULL);
	return ptc_origin_mmap(ps->origin, p, m, ptc_sideband_id(s, m));
}

static bool change(const struct ptc_sideband *s, struct ptc_procs *ps, const struct ptc_sb *sb)
{
	const int32_t pid = code_of(sb);
	struct ptc_proc *p;

	if (pid < 0)
		return true;
	p = ptc_procs_get(ps, pid);
	return p && change_code(s, ps, p, sb);
}

static bool apply_mmap(const struct ptc_sideband *s, struct ptc_procs *ps, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;

	if (is_mode(sb, PERF_RECORD_MISC_KERNEL))
		return ptc_kernel_mmap(&ps->origin->kernel, &ps->kernel, &ps->origin->files, m,
				       ptc_sideband_id(s, m));
	return m->pid < 0 || (ptc_procs_set_thread(ps, m->tid, m->pid) && change(s, ps, sb));
}

static bool apply_poke(const struct ptc_sideband *s, struct ptc_procs *ps, const struct ptc_sb *sb)
{
	const struct ptc_cur *bytes = &sb->u.poke.new_bytes;

	if (is_mode(sb, PERF_RECORD_MISC_KERNEL))
		return ptc_addrspace_patch(&ps->kernel.as, sb->u.poke.addr, bytes->pos,
					   ptc_cur_left(bytes));
	return change(s, ps, sb);
}

static bool apply_task(struct ptc_procs *ps, const struct ptc_event *ev)
{
	const struct ptc_sb_task *t = &ev->sb.u.task;

	if (!(ev->time ? ptc_procs_begin_thread : ptc_procs_set_thread)(ps, t->tid, t->pid))
		return false;
	ptc_procs_inherit_thread_name(ps, t->tid, t->ptid);
	/*
	 * Synthesized forks (time 0) list existing processes. Their mappings are recorded
	 * separately.
	 */
	if (t->pid == t->ppid || t->pid < 0 || !ev->time)
		return true;
	return ptc_procs_fork(ps, t->pid, t->ppid, ev->time);
}

static bool apply_switch(struct ptc_procs *ps, const struct ptc_sb *sb)
{
	const bool out = sb->misc & PERF_RECORD_MISC_SWITCH_OUT;
	const bool wide = sb->type == PERF_RECORD_SWITCH_CPU_WIDE;

	if (!(sb->id.has & PERF_SAMPLE_TID) || !(sb->id.has & PERF_SAMPLE_CPU))
		return true;
	if (!ptc_procs_set_thread(ps, sb->id.tid, sb->id.pid))
		return false;
	if (!out)
		return ptc_procs_set_running(ps, sb->id.cpu, sb->id.tid);
	if (!wide)
		return true; /* the next thread has a record of its own */
	return ptc_procs_set_thread(ps, sb->u.sw.next_prev_tid, sb->u.sw.next_prev_pid) &&
	       ptc_procs_set_running(ps, sb->id.cpu, sb->u.sw.next_prev_tid);
}

static bool apply_sb(const struct ptc_sideband *s, struct ptc_procs *ps, const struct ptc_event *ev)
{
	const struct ptc_sb *sb = &ev->sb;
	struct ptc_proc *p;

	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return apply_mmap(s, ps, sb);
	case PERF_RECORD_COMM:
		if (sb->misc & PERF_RECORD_MISC_COMM_EXEC) {
			p = ptc_procs_find(ps, sb->u.comm.pid);
			if (p)
				ptc_procs_exec(ps, p, ev->time);
		}
		return ptc_procs_name_thread(ps, sb->u.comm.tid, sb->u.comm.pid, sb->u.comm.comm);
	case PERF_RECORD_FORK:
		return apply_task(ps, ev);
	case PERF_RECORD_ITRACE_START:
		if (!ptc_procs_set_thread(ps, sb->u.itrace_start.tid, sb->u.itrace_start.pid))
			return false;
		return !(sb->id.has & PERF_SAMPLE_CPU) ||
		       ptc_procs_set_running(ps, sb->id.cpu, sb->u.itrace_start.tid);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return apply_switch(ps, sb);
	case PERF_RECORD_TEXT_POKE:
		return apply_poke(s, ps, sb);
	case PERF_RECORD_KSYMBOL:
		return ptc_kernel_ksymbol(&ps->origin->kernel, &ps->kernel, &ps->origin->files,
					  &sb->u.ksymbol);
	default:
		/* EXIT: the rest of its trace still needs the mappings. */
		return true;
	}
}

int ptc_sideband_apply(struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_err *err)
{
	const struct ptc_event *ev = first(s);
	int r;

	if (!apply_sb(s, ps, ev))
		return ptc_fail_mem(err);
	if (ev != &s->next) {
		s->next_added++;
		return 0;
	}
	r = read_next(s, err);
	return r < 0 ? r : 0;
}
