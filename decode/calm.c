/* SPDX-License-Identifier: MIT */
#include "decode/calm.h"

#include "decode/fast/block.h"
#include "decode/run.h"

void ptc_calm_tell(struct ptc_decode *d, const struct ptc_lane *l)
{
	const struct ptc_event *ev = ptc_sideband_peek(&d->sideband, UINT64_MAX);
	const uint64_t end = d->pick.to == UINT64_MAX ? UINT64_MAX : d->pick.to + 1;

	ptc_replay_set_calm(l->replay, ev && ev->time < end ? ev->time : end,
			    (struct ptc_calm){ d, l });
}

/* Who runs on the lane, as what is to come finds it. */
struct now {
	struct ptc_decode *d;
	const struct ptc_lane *l;
	struct ptc_runner who;
	const struct ptc_thread *thread;
	bool code_too;		    /* changes of code count: */
	struct ptc_fast_code *code; /* of what that knows; NULL: all */
};

/* Is @tid of process @pid news to us? */
static bool moves(const struct now *n, int32_t tid, int32_t pid)
{
	return tid == n->who.tid && pid >= 0 && pid != n->thread->pid;
}

/* Is it that @tid runs on @cpu? */
static bool runs(const struct now *n, uint32_t cpu, int32_t tid)
{
	if (n->l->tid == -1)
		return (int32_t)cpu == n->l->cpu && tid != n->who.tid;
	return n->l->cpu == -1 && tid == n->who.tid && (int32_t)cpu != n->thread->cpu;
}

static bool changes(const struct now *n, uint64_t start, uint64_t len)
{
	uint64_t end;

	if (__builtin_add_overflow(start, len, &end))
		end = UINT64_MAX;
	return n->code_too && (!n->code || ptc_fast_code_knows(n->code, start, end));
}

static bool is_mode(const struct ptc_sb *sb, uint16_t mode)
{
	return (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == mode;
}

static bool mmap_matters(const struct now *n, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;

	return is_mode(sb, PERF_RECORD_MISC_KERNEL) || moves(n, m->tid, m->pid) ||
	       (m->pid == n->who.pid && changes(n, m->addr, m->len));
}

static bool task_matters(const struct now *n, const struct ptc_event *ev)
{
	const struct ptc_sb_task *t = &ev->sb.u.task;

	return moves(n, t->tid, t->pid) || (t->pid == n->who.pid && t->pid != t->ppid && ev->time);
}

static bool switch_matters(const struct now *n, const struct ptc_sb *sb)
{
	const bool out = sb->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!(sb->id.has & PERF_SAMPLE_TID) || !(sb->id.has & PERF_SAMPLE_CPU))
		return false;
	if (moves(n, sb->id.tid, sb->id.pid))
		return true;
	if (!out)
		return runs(n, sb->id.cpu, sb->id.tid);
	return sb->type == PERF_RECORD_SWITCH_CPU_WIDE &&
	       (moves(n, sb->u.sw.next_prev_tid, sb->u.sw.next_prev_pid) ||
		runs(n, sb->id.cpu, sb->u.sw.next_prev_tid));
}

static bool poke_matters(const struct now *n, const struct ptc_sb *sb)
{
	const bool ours = is_mode(sb, PERF_RECORD_MISC_KERNEL) ||
			  (is_mode(sb, PERF_RECORD_MISC_USER) && sb->id.has & PERF_SAMPLE_TID &&
			   sb->id.pid == n->who.pid);

	return ours && changes(n, sb->u.poke.addr, ptc_cur_left(&sb->u.poke.new_bytes));
}

/* What ptc_sideband_apply, and the one who calls it, would make of it. */
static bool matters(const void *ctx, const struct ptc_event *ev)
{
	const struct now *n = ctx;
	const struct ptc_sb *sb = &ev->sb;

	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return mmap_matters(n, sb);
	case PERF_RECORD_COMM:
		return moves(n, sb->u.comm.tid, sb->u.comm.pid) ||
		       (sb->misc & PERF_RECORD_MISC_COMM_EXEC && sb->u.comm.pid == n->who.pid);
	case PERF_RECORD_FORK:
		return task_matters(n, ev);
	case PERF_RECORD_ITRACE_START:
		return moves(n, sb->u.itrace_start.tid, sb->u.itrace_start.pid) ||
		       (sb->id.has & PERF_SAMPLE_CPU &&
			runs(n, sb->id.cpu, sb->u.itrace_start.tid));
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return switch_matters(n, sb);
	case PERF_RECORD_TEXT_POKE:
		return poke_matters(n, sb);
	case PERF_RECORD_LOST:
		return ptc_decode_lane_of(n->d, &sb->id) == n->l;
	case PERF_RECORD_KSYMBOL:
		return true;
	default:
		return false;
	}
}

static bool lasts(const struct ptc_calm *w, uint64_t time, struct now n)
{
	if (!w->d || time > w->d->pick.to)
		return false;
	n.d = w->d;
	n.l = w->l;
	n.who = ptc_runner_of(w->d, w->l);
	n.thread = n.who.tid >= 0 ? ptc_procs_thread(&w->d->procs, n.who.tid) : NULL;
	/* Whatever names one that is not known may be what makes it known. */
	if (!n.who.proc || !n.thread || n.thread->pid == -1)
		return false;
	return !ptc_sideband_any(&w->d->sideband, time, matters, &n);
}

bool ptc_calm_is_same(const struct ptc_calm *w, uint64_t time)
{
	return lasts(w, time, (struct now){ .code_too = false });
}

bool ptc_calm_lasts(const struct ptc_calm *w, uint64_t time, struct ptc_fast_code *code)
{
	return lasts(w, time, (struct now){ .code_too = true, .code = code });
}
