/* SPDX-License-Identifier: MIT */
#include "capture/snapshot/state_compactor.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "capture/snapshot/interval_map.h"
#include "capture/snapshot/latest_by_key.h"

enum { COMM_MAX = 16, KERNEL = -1, PIECES = 4096 /* not worth a look before that */ };

struct thread {
	int32_t tid;
	char comm[COMM_MAX]; /* "": unknown */
};

struct process {
	int32_t pid; /* KERNEL: the kernel, shared by all processes */
	struct thread *threads;
	size_t nthreads, cap;
	struct ptc_spans maps, pokes; /* spans of told_mmap, told_poke */
	size_t enough;		      /* number of spans that makes a look worthwhile; 0: PIECES */
};

/* Tables that keep the newest record for each key. */
enum { BY_SYMBOL, BY_PROGRAM, BY_CGROUP, BY_NAMESPACES, BY_START, BY_SWITCH, TABLES };

struct ptc_fold {
	uint64_t sample_type, id;
	struct process *items; /* owned; ascending by pid */
	size_t n, cap;
	struct ptc_latest tables[TABLES];
	struct ptc_buf made; /* buffer in which a record for a table is built */
};

struct told_mmap {
	struct ptc_sb_mmap m; /* filename is invalid: use name */
	uint16_t misc;
	char name[];
};

struct told_poke {
	uint16_t misc;
	uint8_t bytes[];
};

struct ptc_fold *ptc_fold_new(uint64_t sample_type, uint64_t id)
{
	struct ptc_fold *f = calloc(1, sizeof(*f));

	if (f) {
		f->sample_type = sample_type;
		f->id = id;
	}
	return f;
}

static void release(struct process *p)
{
	ptc_spans_clear(&p->maps);
	ptc_spans_clear(&p->pokes);
	free(p->threads);
}

void ptc_fold_free(struct ptc_fold *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->n; i++)
		release(&f->items[i]);
	for (i = 0; i < TABLES; i++)
		ptc_latest_release(&f->tables[i]);
	ptc_buf_release(&f->made);
	free(f->items);
	free(f);
}

/* --- processes and threads --- */

/* Returns the index of the first process whose pid is at least @pid. */
static size_t place(const struct ptc_fold *f, int32_t pid)
{
	return PTC_PARTITION_POINT(i, 0, f->n, f->items[i].pid < pid);
}

static struct process *find_process(const struct ptc_fold *f, int32_t pid)
{
	const size_t at = place(f, pid);

	return at < f->n && f->items[at].pid == pid ? &f->items[at] : NULL;
}

/* Finds or adds process @pid. NULL: out of memory. Invalidates pointers from find_process. */
static struct process *find_or_add_process(struct ptc_fold *f, int32_t pid)
{
	const size_t at = place(f, pid);

	if (at < f->n && f->items[at].pid == pid)
		return &f->items[at];
	if (!ptc_vec_reserve((void **)&f->items, &f->cap, f->n + 1, sizeof(*f->items)))
		return NULL;
	memmove(f->items + at + 1, f->items + at, (f->n - at) * sizeof(*f->items));
	f->items[at] = (struct process){ .pid = pid };
	f->n++;
	return &f->items[at];
}

static void drop_process(struct ptc_fold *f, struct process *p)
{
	const size_t at = (size_t)(p - f->items);

	release(p);
	memmove(p, p + 1, (f->n - at - 1) * sizeof(*f->items));
	f->n--;
}

static struct thread *find_thread(const struct process *p, int32_t tid)
{
	size_t i;

	for (i = 0; p && i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	return NULL;
}

static struct thread *get_thread(struct process *p, int32_t tid)
{
	struct thread *t = find_thread(p, tid);

	if (t)
		return t;
	if (!ptc_vec_reserve((void **)&p->threads, &p->cap, p->nthreads + 1, sizeof(*p->threads)))
		return NULL;
	t = &p->threads[p->nthreads++];
	*t = (struct thread){ .tid = tid };
	return t;
}

static void empty(struct process *p)
{
	ptc_spans_clear(&p->maps);
	ptc_spans_clear(&p->pokes);
	p->nthreads = 0;
}

static bool take_comm(struct ptc_fold *f, const struct ptc_sb *sb)
{
	struct process *p = find_or_add_process(f, sb->u.comm.pid);
	struct thread *t;

	if (!p)
		return false;
	/* exec ends all other threads, and not every one of them has an EXIT record */
	if (sb->misc & PERF_RECORD_MISC_COMM_EXEC)
		empty(p);
	t = get_thread(p, sb->u.comm.tid);
	if (!t)
		return false;
	(void)memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, sb->u.comm.comm, strnlen(sb->u.comm.comm, COMM_MAX - 1));
	return true;
}

static bool inherit(struct ptc_fold *f, struct process *child, int32_t ppid)
{
	const struct process *parent = find_process(f, ppid);

	empty(child);
	return !parent || (ptc_spans_copy(&child->maps, &parent->maps) &&
			   ptc_spans_copy(&child->pokes, &parent->pokes));
}

/*
 * A FORK of time 0 describes a process that already ran. Such a process has its own mmap records,
 * so it inherits nothing.
 */
static bool take_fork(struct ptc_fold *f, const struct ptc_sb *sb)
{
	const struct ptc_sb_task *k = &sb->u.task;
	const struct thread *by;
	struct process *p;
	struct thread *t;

	if (k->pid < 0)
		return true;
	p = find_or_add_process(f, k->pid);
	if (!p || (k->pid != k->ppid && sb->id.time && !inherit(f, p, k->ppid)))
		return false;
	t = get_thread(p, k->tid);
	if (!t)
		return false;
	by = find_thread(find_process(f, k->ppid), k->ptid);
	if (by && by != t)
		memcpy(t->comm, by->comm, sizeof(t->comm));
	return true;
}

static void take_exit(struct ptc_fold *f, const struct ptc_sb *sb)
{
	const struct ptc_sb_task *k = &sb->u.task;
	struct process *p = find_process(f, k->pid);
	struct thread *t = find_thread(p, k->tid);

	ptc_latest_drop(&f->tables[BY_NAMESPACES], (uint64_t)k->tid);
	if (!t)
		return;
	*t = p->threads[--p->nthreads];
	if (!p->nthreads)
		drop_process(f, p);
}

/* --- mappings --- */

static bool is_kernels(const struct ptc_sb *sb)
{
	return (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static uint64_t end_of(uint64_t addr, uint64_t len)
{
	return len > UINT64_MAX - addr ? UINT64_MAX : addr + len;
}

static bool put_told(struct ptc_spans *s, uint64_t addr, uint64_t len, struct ptc_told *told)
{
	const bool ok = told && ptc_spans_put(s, addr, end_of(addr, len), told);

	ptc_told_put(told);
	return ok;
}

/* A mapping of data only hides the code that was there before. */
static bool take_mmap(struct ptc_fold *f, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;
	const size_t name = strlen(m->filename) + 1;
	struct process *p = find_or_add_process(f, is_kernels(sb) ? KERNEL : m->pid);
	struct ptc_told *told;
	struct told_mmap *t;

	if (!p || (p->pid != KERNEL && !get_thread(p, m->tid)) ||
	    !ptc_spans_cut(&p->pokes, m->addr, end_of(m->addr, m->len)))
		return false;
	if (!(m->prot & PROT_EXEC))
		return ptc_spans_cut(&p->maps, m->addr, end_of(m->addr, m->len));
	told = ptc_told_new(sb->id.time, sizeof(*t) + name);
	if (told) {
		t = ptc_told_bytes(told);
		t->m = *m;
		t->misc = sb->misc;
		memcpy(t->name, m->filename, name);
	}
	return put_told(&p->maps, m->addr, m->len, told);
}

static bool take_poke(struct ptc_fold *f, const struct ptc_sb *sb)
{
	const struct ptc_cur *bytes = &sb->u.poke.new_bytes;
	const size_t len = ptc_cur_left(bytes);
	struct process *p = find_or_add_process(f, is_kernels(sb) ? KERNEL : sb->id.pid);
	struct ptc_told *told;

	if (!p)
		return false;
	told = ptc_told_new(sb->id.time, sizeof(struct told_poke) + len);
	if (told) {
		struct told_poke *t = ptc_told_bytes(told);

		t->misc = sb->misc;
		memcpy(t->bytes, bytes->pos, len);
	}
	return put_told(&p->pokes, sb->u.poke.addr, len, told);
}

/* --- state that is kept as whole records --- */

/* Keeps the newest record for @key, with time 0 as all records of this state have. */
static bool keep_newest_record(struct ptc_fold *f, int table, uint64_t key, const struct ptc_sb *sb)
{
	struct ptc_sb told = *sb;

	told.id.time = 0;
	ptc_buf_reset(&f->made);
	ptc_sb_put(&f->made, &told, f->sample_type);
	return !ptc_buf_failed(&f->made) && ptc_latest_set(&f->tables[table], key, &f->made);
}

static bool drop_kept(struct ptc_fold *f, int table, uint64_t key)
{
	ptc_latest_drop(&f->tables[table], key);
	return true;
}

static bool take_other(struct ptc_fold *f, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_KSYMBOL:
		if (sb->u.ksymbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
			return drop_kept(f, BY_SYMBOL, sb->u.ksymbol.addr);
		return keep_newest_record(f, BY_SYMBOL, sb->u.ksymbol.addr, sb);
	case PERF_RECORD_BPF_EVENT:
		if (sb->u.bpf.type == PERF_BPF_EVENT_PROG_UNLOAD)
			return drop_kept(f, BY_PROGRAM, sb->u.bpf.id);
		return keep_newest_record(f, BY_PROGRAM, sb->u.bpf.id, sb);
	case PERF_RECORD_CGROUP:
		return keep_newest_record(f, BY_CGROUP, sb->u.cgroup.id, sb);
	case PERF_RECORD_NAMESPACES:
		return keep_newest_record(f, BY_NAMESPACES, (uint64_t)sb->u.namespaces.tid, sb);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return keep_newest_record(f, BY_SWITCH, sb->id.cpu, sb);
	case PERF_RECORD_ITRACE_START:
		return keep_newest_record(f, BY_START, sb->id.cpu, sb);
	default:
		return true;
	}
}

static bool fold_sideband_record(struct ptc_fold *f, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_COMM:
		return take_comm(f, sb);
	case PERF_RECORD_FORK:
		return take_fork(f, sb);
	case PERF_RECORD_EXIT:
		take_exit(f, sb);
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return take_mmap(f, sb);
	case PERF_RECORD_TEXT_POKE:
		return take_poke(f, sb);
	default:
		return take_other(f, sb);
	}
}

int ptc_fold_take(struct ptc_fold *f, const struct ptc_sb *sb, struct ptc_err *err)
{
	return fold_sideband_record(f, sb) ? 0 : ptc_fail_mem(err);
}

/* --- comparing with the current mappings --- */

static size_t pieces(const struct process *p)
{
	return p->maps.n + p->pokes.n;
}

static void enough(struct process *p)
{
	p->enough = pieces(p) < PIECES / 2 ? PIECES : 2 * pieces(p);
}

bool ptc_fold_wants_look(struct ptc_fold *f, int32_t *ret_pid)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct process *p = &f->items[i];

		if (p->pid <= 0 || pieces(p) < (p->enough ? p->enough : PIECES))
			continue;
		enough(p);
		*ret_pid = p->pid;
		return true;
	}
	return false;
}

int ptc_fold_look(struct ptc_fold *f, int32_t pid, const struct ptc_maps *maps, uint64_t until,
		  struct ptc_err *err)
{
	struct process *p = find_process(f, pid);
	struct ptc_range *ranges;
	size_t i, n = 0;
	bool good;

	if (!p)
		return 0;
	ranges = calloc(maps->n + 1, sizeof(*ranges));
	if (!ranges)
		return ptc_fail_mem(err);
	for (i = 0; i < maps->n; i++)
		if (maps->items[i].prot & PROT_EXEC)
			ranges[n++] =
				(struct ptc_range){ maps->items[i].start, maps->items[i].end };
	good = ptc_spans_only(&p->maps, until, ranges, n) &&
	       ptc_spans_only(&p->pokes, until, ranges, n);
	enough(p);
	free(ranges);
	return good ? 0 : ptc_fail_mem(err);
}

/* --- making records from the state --- */

static void put_state_record(const struct ptc_fold *f, struct ptc_buf *b, struct ptc_sb *sb,
			     int32_t pid, int32_t tid)
{
	sb->id.pid = pid;
	sb->id.tid = tid;
	sb->id.id = f->id;
	ptc_sb_put(b, sb, f->sample_type);
}

static void put_thread(const struct ptc_fold *f, struct ptc_buf *b, int32_t pid,
		       const struct thread *t)
{
	struct ptc_sb fork = { .type = PERF_RECORD_FORK };
	struct ptc_sb comm = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER };

	if (t->tid != pid) {
		fork.u.task.pid = fork.u.task.ppid = pid;
		fork.u.task.tid = t->tid;
		fork.u.task.ptid = pid;
		put_state_record(f, b, &fork, pid, t->tid);
	}
	if (!t->comm[0])
		return;
	comm.u.comm.pid = pid;
	comm.u.comm.tid = t->tid;
	comm.u.comm.comm = t->comm;
	put_state_record(f, b, &comm, pid, t->tid);
}

static void put_map(const struct ptc_fold *f, struct ptc_buf *b, int32_t pid,
		    const struct ptc_span *s)
{
	const struct told_mmap *t = ptc_told_bytes(s->told);
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = t->misc };

	sb.u.mmap = t->m;
	sb.u.mmap.pid = pid;
	sb.u.mmap.tid = pid;
	sb.u.mmap.filename = t->name;
	sb.u.mmap.addr = s->start;
	sb.u.mmap.len = s->end - s->start;
	sb.u.mmap.pgoff += s->start - s->base;
	put_state_record(f, b, &sb, pid, pid);
}

static void put_poke(const struct ptc_fold *f, struct ptc_buf *b, int32_t pid,
		     const struct ptc_span *s)
{
	const struct told_poke *t = ptc_told_bytes(s->told);
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE, .misc = t->misc };

	sb.u.poke.addr = s->start;
	sb.u.poke.new_bytes =
		ptc_cur_init(t->bytes + (s->start - s->base), (size_t)(s->end - s->start));
	put_state_record(f, b, &sb, pid, pid);
}

static void put_process(const struct ptc_fold *f, struct ptc_buf *b, const struct process *p)
{
	const struct thread *first = find_thread(p, p->pid);
	size_t i;

	if (first) /* first: the forks of the other threads name it as parent */
		put_thread(f, b, p->pid, first);
	for (i = 0; i < p->nthreads; i++)
		if (&p->threads[i] != first)
			put_thread(f, b, p->pid, &p->threads[i]);
	for (i = 0; i < p->maps.n; i++)
		put_map(f, b, p->pid, &p->maps.items[i]);
	for (i = 0; i < p->pokes.n; i++)
		put_poke(f, b, p->pid, &p->pokes.items[i]);
}

int ptc_fold_put(const struct ptc_fold *f, struct ptc_buf *b, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		put_process(f, b, &f->items[i]);
	for (i = 0; i < TABLES; i++)
		ptc_latest_put(&f->tables[i], b);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}

void ptc_fold_size(const struct ptc_fold *f, struct ptc_fold_size *ret)
{
	size_t i;

	*ret = (struct ptc_fold_size){ .processes = f->n };
	for (i = 0; i < f->n; i++) {
		ret->threads += f->items[i].nthreads;
		ret->pieces += f->items[i].maps.n + f->items[i].pokes.n;
	}
	for (i = 0; i < TABLES; i++)
		ret->others += f->tables[i].n;
}
