/* SPDX-License-Identifier: MIT */
#include "decode/timeline/lookahead.h"

#include "decode/engine/code_cache.h"
#include "decode/session/decoder.h"

void ptc_calm_tell(struct ptc_decode *d, const struct ptc_lane *l)
{
	const struct ptc_event *ev = ptc_sideband_peek(&d->sideband, UINT64_MAX);
	const uint64_t end = d->pick.to;

	ptc_replay_set_calm(l->replay, ev && ev->time < end ? ev->time : end,
			    (struct ptc_calm){ d, l });
}

enum { BIRTHS = 64 };

/* Context of a question about sideband records. */
struct look {
	struct ptc_decode *d;
	const struct ptc_lane *l;
	struct birth {
		int32_t pid, ppid;
		uint64_t time;
	} births[BIRTHS]; /* processes yet to be forked, if it foresees */
	size_t nbirths;
	struct ptc_turns *t; /* the threads that run until then */
	bool foresees;	     /* add turns to t; else only check, and then: */
	/* changes of code that it knows count; NULL: all changes count */
	const struct ptc_piece_user *user;
};

/* Returns a turn of process @pid, or with its code. NULL: none. */
static const struct ptc_turn *turn_of(const struct look *k, int32_t pid)
{
	size_t i;

	for (i = 0; i < k->t->n; i++)
		if (k->t->v[i].pid == pid || k->t->v[i].code == pid)
			return &k->t->v[i];
	return NULL;
}

/* Is @pid another process than the known one of thread @tid? */
static bool moves(const struct look *k, int32_t tid, int32_t pid)
{
	size_t i;

	for (i = 0; i < k->t->n && pid >= 0; i++)
		if (k->t->v[i].tid == tid && k->t->v[i].pid != pid)
			return true;
	return false;
}

/* Returns the pending fork of @pid. NULL: the process exists, or is unknown. */
static const struct birth *birth_of(const struct look *k, int32_t pid)
{
	size_t i;

	for (i = 0; i < k->nbirths; i++)
		if (k->births[i].pid == pid)
			return &k->births[i];
	return NULL;
}

/* Returns the turn of thread @tid of process @pid on @cpu. */
static struct ptc_turn turn_to(const struct look *k, uint64_t time, int32_t cpu, int32_t tid,
			       int32_t pid)
{
	const struct birth *b = birth_of(k, pid);
	const int32_t code = b ? b->ppid : pid;
	const struct ptc_proc *proc = ptc_procs_find(&k->d->procs, code);

	return (struct ptc_turn){ .time = time,
				  .pid = pid,
				  .tid = tid,
				  .cpu = cpu,
				  .code = code,
				  .born = b ? b->time : 0,
				  .as = proc ? &proc->as : &k->d->procs.nobody,
				  .known = proc };
}

/* Thread @tid of process @pid runs on @cpu. Returns true if that is more than another turn. */
static bool runs(struct look *k, uint64_t time, uint32_t cpu, int32_t tid, int32_t pid)
{
	const bool by_cpu = k->l->tid == -1;
	const struct ptc_turn *last = &k->t->v[k->t->n - 1];

	if (moves(k, tid, pid))
		return true;
	if (!k->foresees ||
	    (by_cpu ? (int32_t)cpu != k->l->cpu || tid == last->tid :
		      tid != k->l->tid || k->l->cpu != -1 || (int32_t)cpu == last->cpu))
		return false;
	if (tid < 0 || pid < 0 || k->t->n == PTC_TURNS)
		return true;
	k->t->v[k->t->n++] = turn_to(k, time, by_cpu ? k->l->cpu : (int32_t)cpu, tid, pid);
	return false;
}

/* Does a change of code in @pid matter? It always does if the process of the code is unknown. */
static bool changes(const struct look *k, int32_t pid, uint64_t start, uint64_t len)
{
	const struct ptc_turn *of;
	uint64_t end;
	size_t i;

	if (__builtin_add_overflow(start, len, &end))
		end = UINT64_MAX;
	for (i = 0; i < k->t->n; i++) {
		of = &k->t->v[i];
		if (of->pid != pid && of->code != pid)
			continue;
		if (!of->known ||
		    (!k->foresees &&
		     (!k->user || ptc_piece_codes_know(k->user, of->as, of->code, start, end))))
			return true;
	}
	return false;
}

static bool is_mode(const struct ptc_sb *sb, uint16_t mode)
{
	return (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == mode;
}

static bool mmap_matters(const struct look *k, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;

	return is_mode(sb, PERF_RECORD_MISC_KERNEL) || moves(k, m->tid, m->pid) ||
	       (!k->t->changes && changes(k, m->pid, m->addr, m->len));
}

static bool task_matters(struct look *k, const struct ptc_event *ev)
{
	const struct ptc_sb_task *t = &ev->sb.u.task;
	const struct ptc_turn *of;

	if (moves(k, t->tid, t->pid))
		return true;
	if (t->pid == t->ppid || !ev->time)
		return false;
	of = turn_of(k, t->pid);
	if (of)
		return k->foresees || of->pid != t->pid || of->born != ev->time;
	if (k->foresees && k->nbirths < BIRTHS && !ptc_procs_find(&k->d->procs, t->pid) &&
	    ptc_procs_find(&k->d->procs, t->ppid))
		k->births[k->nbirths++] = (struct birth){ t->pid, t->ppid, ev->time };
	return false;
}

static bool switch_matters(struct look *k, const struct ptc_event *ev)
{
	const struct ptc_sb *sb = &ev->sb;
	const bool out = sb->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!(sb->id.has & PERF_SAMPLE_TID) || !(sb->id.has & PERF_SAMPLE_CPU))
		return false;
	if (moves(k, sb->id.tid, sb->id.pid))
		return true;
	if (!out)
		return runs(k, ev->time, sb->id.cpu, sb->id.tid, sb->id.pid);
	return sb->type == PERF_RECORD_SWITCH_CPU_WIDE &&
	       runs(k, ev->time, sb->id.cpu, sb->u.sw.next_prev_tid, sb->u.sw.next_prev_pid);
}

static bool start_matters(struct look *k, const struct ptc_event *ev)
{
	const struct ptc_sb *sb = &ev->sb;
	const int32_t tid = sb->u.itrace_start.tid, pid = sb->u.itrace_start.pid;

	return sb->id.has & PERF_SAMPLE_CPU ? runs(k, ev->time, sb->id.cpu, tid, pid) :
					      moves(k, tid, pid);
}

/* Kernel code belongs to all processes. */
static bool poke_matters(const struct look *k, const struct ptc_sb *sb)
{
	const uint64_t len = ptc_cur_left(&sb->u.poke.new_bytes);
	size_t i;

	if (is_mode(sb, PERF_RECORD_MISC_USER))
		return !k->t->changes && sb->id.has & PERF_SAMPLE_TID &&
		       changes(k, sb->id.pid, sb->u.poke.addr, len);
	for (i = 0; i < k->t->n && is_mode(sb, PERF_RECORD_MISC_KERNEL); i++)
		if (changes(k, k->t->v[i].pid, sb->u.poke.addr, len))
			return true;
	return false;
}

/* Does the record matter? Mirrors ptc_sideband_apply and its caller. */
static bool matters(void *ctx, const struct ptc_event *ev)
{
	struct look *k = ctx;
	const struct ptc_sb *sb = &ev->sb;

	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return mmap_matters(k, sb);
	case PERF_RECORD_COMM:
		return moves(k, sb->u.comm.tid, sb->u.comm.pid) ||
		       (sb->misc & PERF_RECORD_MISC_COMM_EXEC && turn_of(k, sb->u.comm.pid));
	case PERF_RECORD_FORK:
		return task_matters(k, ev);
	case PERF_RECORD_ITRACE_START:
		return start_matters(k, ev);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return switch_matters(k, ev);
	case PERF_RECORD_TEXT_POKE:
		return poke_matters(k, sb);
	case PERF_RECORD_LOST:
		return ptc_decode_lane_of(k->d, &sb->id) == k->l;
	case PERF_RECORD_KSYMBOL:
		return true;
	default:
		return false;
	}
}

/* Set turn 0 to the running thread. False: its process is unknown, and any record may tell it. */
static bool set_running_turn(const struct ptc_calm *w, struct ptc_turns *t)
{
	const struct ptc_runner who = ptc_runner_of(w->d, w->l);
	const struct ptc_thread *thread = who.tid >= 0 ? ptc_procs_thread(&w->d->procs, who.tid) :
							 NULL;
	const struct look k = { .d = w->d };

	t->v[0] = turn_to(&k, 0, who.cpu, who.tid, who.pid);
	t->n = 1;
	return thread && thread->pid != -1;
}

void ptc_calm_foresee(const struct ptc_calm *w, uint64_t time, struct ptc_turns *ret)
{
	struct look k = { .d = w->d, .l = w->l, .t = ret, .foresees = true };
	uint64_t first;

	ret->n = 0;
	ret->until = 0;
	ret->changes = false;
	if (!w->d || !set_running_turn(w, ret))
		return;
	ret->until = w->d->pick.to;
	if (ptc_sideband_find(&w->d->sideband, time, matters, &k, &first) && first < ret->until)
		ret->until = first;
}

bool ptc_calm_lasts(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		    const struct ptc_piece_user *user)
{
	struct ptc_turns until = *t;
	struct look k = { .d = w->d, .l = w->l, .t = &until, .user = user };
	uint64_t first;

	if (!w->d || !t->n || time >= t->until)
		return false;
	while (until.n && until.v[until.n - 1].time > time)
		until.n--;
	return !ptc_sideband_find(&w->d->sideband, time, matters, &k, &first);
}

struct changing {
	const struct ptc_turns *t;
	bool (*take)(void *ctx, const struct ptc_event *ev);
	void *ctx;
};

/* Records of another process may change the code of a process that is yet to be forked, too. */
static bool take_change(void *ctx, const struct ptc_event *ev)
{
	const struct changing *k = ctx;
	const int32_t pid = ptc_sideband_code_of(&ev->sb);
	bool any = false;
	size_t i;

	for (i = 0; i < k->t->n && pid >= 0; i++) {
		const struct ptc_turn *of = &k->t->v[i];

		if (of->pid != pid && of->code != pid)
			continue;
		if (!of->known || of->code != of->pid)
			return true;
		any = true;
	}
	return any && !k->take(k->ctx, ev);
}

bool ptc_calm_changes(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		      bool (*take)(void *ctx, const struct ptc_event *ev), void *ctx)
{
	struct changing k = { t, take, ctx };
	uint64_t first;

	return w->d && t->n && !ptc_sideband_find(&w->d->sideband, time, take_change, &k, &first);
}

struct awaited {
	int32_t pid;
	uint64_t ip, time;
};

static bool brings_code(void *ctx, const struct ptc_event *ev)
{
	struct awaited *k = ctx;
	const struct ptc_sb *sb = &ev->sb;
	uint64_t start, len;

	if (ptc_sideband_code_of(sb) != k->pid)
		return false;
	if (sb->type == PERF_RECORD_TEXT_POKE) {
		start = sb->u.poke.addr;
		len = ptc_cur_left(&sb->u.poke.new_bytes);
	} else if (sb->type == PERF_RECORD_MMAP || sb->type == PERF_RECORD_MMAP2) {
		start = sb->u.mmap.addr;
		len = sb->u.mmap.len;
	} else {
		return false;
	}
	if (k->ip - start >= len)
		return false;
	k->time = ev->time;
	return true;
}

uint64_t ptc_calm_next_code(const struct ptc_calm *w, int32_t pid, uint64_t ip, uint64_t time)
{
	struct awaited k = { .pid = pid, .ip = ip };
	uint64_t first;

	if (w->d && pid >= 0)
		(void)ptc_sideband_find(&w->d->sideband, time, brings_code, &k, &first);
	return k.time;
}
