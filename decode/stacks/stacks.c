/* SPDX-License-Identifier: MIT */
#include "ptcap/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/err.h"
#include "base/opts.h"
#include "decode/crash/crash_place.h"
#include "decode/crash/crash_state.h"
#include "decode/crash/crash_unwind.h"
#include "decode/crash/python_frames.h"
#include "decode/image/codefile.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"
#include "decode/stacks/deadlock.h"
#include "decode/stacks/wait.h"

enum {
	NAMES = 8,	  /* innermost frames whose names are looked at */
	CODE_BEFORE = 16, /* bytes in front of a system call in which its number is loaded */
};

struct process_thread {
	struct ptc_stack_thread shown;	 /* lends the members below, and has same_as */
	struct ptc_unwound stack;	 /* owned */
	struct ptc_python_frames python; /* owned */
	struct ptc_wait wait;
	char *object; /* owned; NULL: not known */
};

struct ptc_stack_process {
	struct ptc_crash_state state;
	struct process_thread *threads; /* owned; state.nthreads, in the same order */
	struct ptc_deadlocks deadlocks;
	bool unmapped; /* the recording does not have the mappings: addresses only */
};

struct ptc_stacks_report {
	struct ptc_file *file; /* owned, as all members */
	struct ptc_decode *d;
	struct ptc_stack_process *processes;
	size_t n;
	struct ptc_python_limits python; /* for the frames of all threads */
	uint64_t left_out; /* states of processes that are more than PTC_CRASH_PIDS_MAX */
};

/* --- places --- */

static struct ptc_item item_of(const struct ptc_stack_process *p)
{
	return (struct ptc_item){ .pid = (int32_t)p->state.signal.pid,
				  .tid = (int32_t)p->state.signal.tid,
				  .time = p->state.signal.time_ns };
}

static void find_place(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		       const struct process_thread *t, size_t i, struct ptc_crash_place *ret)
{
	const struct ptc_unwound_frame *f = &t->stack.frames[i];
	const struct ptc_item it = item_of(p);

	ptc_crash_place_find(r->d, &it, f->pc, i && !f->interrupted && f->pc, ret);
}

bool ptc_stacks_place(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		      size_t thread, size_t frame, struct ptc_crash_place *ret)
{
	if (thread >= p->state.nthreads || frame >= p->threads[thread].stack.n)
		return false;
	find_place(r, p, &p->threads[thread], frame, ret);
	return true;
}

/* --- one thread --- */

/* The names of the innermost frames of a thread, copied. */
struct names {
	const char *items[NAMES];
	size_t n;
};

static void release_names(struct names *names)
{
	while (names->n)
		free((char *)(uintptr_t)names->items[--names->n]);
}

static bool copy_names(struct names *names, const struct ptc_stacks_report *r,
		       const struct ptc_stack_process *p, const struct process_thread *t)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	for (names->n = 0; names->n < NAMES && names->n < t->stack.n; names->n++) {
		find_place(r, p, t, names->n, &place);
		names->items[names->n] = place.function ? strdup(place.function) : NULL;
		if (place.function && !names->items[names->n])
			return false;
	}
	return true;
}

/* Returns the number of the system call in which @t is. */
static uint64_t call_of(const struct ptc_addrspace *as, const struct ptc_crash_thread *t)
{
	const uint64_t nr = t->regs[PTC_REG_ORIG_RAX];
	uint8_t code[CODE_BEFORE];
	uint64_t loaded;

	if (nr != SYS_restart_syscall || !as ||
	    ptc_addrspace_read(as, t->regs[PTC_REG_RIP] - CODE_BEFORE, code, CODE_BEFORE) !=
		    CODE_BEFORE)
		return nr;
	loaded = ptc_wait_loaded_call(code, CODE_BEFORE);
	return loaded == PTC_WAIT_NO_CALL ? nr : loaded;
}

static int name_object(struct process_thread *t, struct ptc_unwinder *w, struct ptc_err *err)
{
	const char *name = w && t->wait.addr ?
				   ptc_unwinder_data_name(w, t->wait.addr, &t->shown.object_off) :
				   NULL;

	t->object = name ? strdup(name) : NULL;
	return name && !t->object ? ptc_fail_mem(err) : 0;
}

static void lend_members(struct process_thread *t)
{
	struct ptc_stack_thread *shown = &t->shown;

	shown->wait = &t->wait;
	shown->python = &t->python;
	shown->depth = t->stack.n;
	shown->cut = t->stack.cut;
	shown->unsaved = t->stack.unsaved;
	shown->ends_in = t->stack.unknown ? t->stack.unknown->name : NULL;
	shown->object = t->object;
}

static int explain_thread(struct ptc_stacks_report *r, const struct ptc_stack_process *p,
			  struct process_thread *t, const struct ptc_addrspace *as,
			  struct ptc_unwinder *w, struct ptc_err *err)
{
	const struct ptc_crash_state_thread *s = t->shown.state;
	/* A thread that did not stop may have no registers. */
	const bool known = !s->task.unstopped || s->state.regs[PTC_REG_RIP];
	struct names names;
	int rc = w && known ? ptc_unwinder_run(w, &s->state, &t->stack, err) : 0;

	if (rc)
		return rc;
	if (!copy_names(&names, r, p, t))
		rc = ptc_fail_mem(err);
	if (!rc)
		t->wait = ptc_wait_find(&p->state, s, call_of(as, &s->state), names.items, names.n);
	release_names(&names);
	if (!rc)
		rc = name_object(t, w, err);
	if (!rc)
		rc = ptc_python_frames_read(&p->state, s->state.tid, &r->python, &t->python, err);
	lend_members(t);
	return rc;
}

/* --- all threads of a process --- */

static bool has_same_stack(const struct process_thread *a, const struct process_thread *b)
{
	size_t i;

	if (a->stack.n != b->stack.n || a->stack.cut != b->stack.cut || !a->stack.n ||
	    a->wait.kind != b->wait.kind || a->wait.nr != b->wait.nr ||
	    a->wait.addr != b->wait.addr || a->wait.owner != b->wait.owner ||
	    a->shown.state->task.stop_signal != b->shown.state->task.stop_signal ||
	    a->shown.state->task.unstopped != b->shown.state->task.unstopped ||
	    !ptc_python_frames_are_same(&a->python, &b->python))
		return false;
	for (i = 0; i < a->stack.n; i++)
		if (a->stack.frames[i].pc != b->stack.frames[i].pc)
			return false;
	return true;
}

/* A number that is equal for equal stacks. */
static uint64_t hash_of(const struct process_thread *t)
{
	uint64_t hash = t->stack.n ^ t->wait.addr;
	size_t i;

	for (i = 0; i < t->stack.n; i++)
		hash = (hash ^ t->stack.frames[i].pc) * UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

/* Sets same_as of all threads. */
static int fold(struct ptc_stack_process *p, struct ptc_err *err)
{
	const size_t n = p->state.nthreads;
	uint64_t *hashes = calloc(n + 1, sizeof(*hashes));
	size_t i, k;

	if (!hashes)
		return ptc_fail_mem(err);
	for (i = 0; i < n; i++) {
		hashes[i] = hash_of(&p->threads[i]);
		for (k = 0; k < i; k++)
			if (hashes[k] == hashes[i] && p->threads[k].shown.same_as == k &&
			    has_same_stack(&p->threads[k], &p->threads[i]))
				break;
		p->threads[i].shown.same_as = k;
	}
	free(hashes);
	return 0;
}

/* Returns the number of the thread that @t waits for. */
static size_t waits_for(const struct ptc_stack_process *p, const struct process_thread *t)
{
	size_t i;

	for (i = 0; t->wait.owner && !t->wait.owner_is_gone && i < p->state.nthreads; i++)
		if (p->state.threads[i].state.tid == t->wait.owner)
			return i;
	return PTC_WAITS_FOR_NONE;
}

static int find_deadlocks(struct ptc_stack_process *p, struct ptc_err *err)
{
	const size_t n = p->state.nthreads;
	size_t *edges = calloc(n + 1, sizeof(*edges)), i;
	int rc;

	if (!edges)
		return ptc_fail_mem(err);
	for (i = 0; i < n; i++)
		edges[i] = waits_for(p, &p->threads[i]);
	rc = ptc_deadlocks_find(edges, n, &p->deadlocks, err);
	free(edges);
	return rc;
}

static int explain_process(struct ptc_stacks_report *r, struct ptc_stack_process *p,
			   struct ptc_err *err)
{
	const struct ptc_proc *proc = ptc_decode_process(r->d, (int32_t)p->state.signal.pid);
	struct ptc_unwinder *w = NULL;
	size_t i;
	int rc = 0;

	p->unmapped = !proc;
	p->threads = calloc(p->state.nthreads + 1, sizeof(*p->threads));
	if (!p->threads)
		return ptc_fail_mem(err);
	for (i = 0; i < p->state.nthreads; i++)
		p->threads[i].shown.state = &p->state.threads[i];
	if (proc)
		rc = ptc_unwinder_new(&p->state, &proc->as, &w, err);
	for (i = 0; !rc && i < p->state.nthreads; i++)
		rc = explain_thread(r, p, &p->threads[i], proc ? &proc->as : NULL, w, err);
	ptc_unwinder_free(w);
	if (!rc)
		rc = fold(p, err);
	return rc ? rc : find_deadlocks(p, err);
}

/* --- all processes --- */

static bool is_asked(const struct ptc_stacks_opts *o, uint64_t pid)
{
	size_t i;

	for (i = 0; i < o->npids && o->pids[i] != pid; i++)
		;
	return !o->npids || i < o->npids;
}

static int read_processes(struct ptc_stacks_report *r, const char *path,
			  const struct ptc_stacks_opts *o, struct ptc_err *err)
{
	struct ptc_crash_pids pids;
	int rc = ptc_crash_state_pids(r->file, &pids, err);
	size_t i;

	if (rc)
		return rc;
	r->left_out = pids.left_out;
	r->processes = calloc(pids.n + 1, sizeof(*r->processes));
	if (!r->processes)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < pids.n; i++)
		if (is_asked(o, pids.pids[i]))
			rc = ptc_crash_state_read_any(&r->processes[r->n++].state, r->file,
						      pids.pids[i], err);
	if (!rc && !r->n)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"'%s' has no state of %s; record one with `ptcap stacks -p PID -o "
				"FILE`",
				path, pids.n ? "this process" : "a process");
	return rc;
}

static int ignore_items(void *ctx, const struct ptc_item *items, size_t n)
{
	(void)ctx;
	(void)items;
	(void)n;
	return 0;
}

/* Applies all records about mappings. Of a trace, only the end is decoded. */
static int read_mappings(struct ptc_stacks_report *r, const char *path,
			 const struct ptc_stacks_opts *o, struct ptc_err *err)
{
	const struct ptc_sink sink = { ignore_items, NULL };
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	int rc;

	opts.last = 1;
	opts.untraced = true;
	opts.code = o->code;
	opts.mangled = o->mangled;
	rc = ptc_decode_open(path, &opts, &r->d, err);
	return rc ? rc : ptc_decode_run(r->d, &sink, err);
}

static int explain_processes(struct ptc_stacks_report *r, const char *path,
			     const struct ptc_stacks_opts *opts, struct ptc_err *err)
{
	int rc = ptc_file_open(path, &r->file, err);
	size_t i;

	r->python = PTC_PYTHON_LIMITS;
	if (!rc)
		rc = read_processes(r, path, opts, err);
	if (!rc)
		rc = read_mappings(r, path, opts, err);
	for (i = 0; !rc && i < r->n; i++)
		rc = explain_process(r, &r->processes[i], err);
	return rc;
}

int ptc_stacks_explain(const char *path, const struct ptc_stacks_opts *opts,
		       struct ptc_stacks_report **ret, struct ptc_err *err)
{
	const struct ptc_stacks_opts defaults = PTC_STACKS_OPTS_INIT;
	struct ptc_stacks_opts o;
	struct ptc_stacks_report *r;
	int rc = ptc_opts_take(&o, sizeof(o), opts ? opts : &defaults, "PTC_STACKS_OPTS_INIT", err);

	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ptc_fail_mem(err);
	rc = explain_processes(r, path, &o, err);
	if (rc)
		ptc_stacks_report_free(r);
	else
		*ret = r;
	return rc;
}

void ptc_stacks_report_free(struct ptc_stacks_report *r)
{
	size_t i, k;

	for (i = 0; r && i < r->n; i++) {
		struct ptc_stack_process *p = &r->processes[i];

		for (k = 0; p->threads && k < p->state.nthreads; k++) {
			ptc_unwound_release(&p->threads[k].stack);
			free(p->threads[k].python.items);
			free(p->threads[k].object);
		}
		free(p->threads);
		ptc_deadlocks_release(&p->deadlocks);
		ptc_crash_state_release(&p->state);
	}
	if (!r)
		return;
	free(r->processes);
	ptc_decode_free(r->d);
	ptc_file_free(r->file);
	free(r);
}

/* --- the report's contents --- */

const char *ptc_stacks_report_note(const struct ptc_stacks_report *r, size_t i)
{
	return ptc_decode_note(r->d, i);
}

size_t ptc_stacks_report_processes(const struct ptc_stacks_report *r)
{
	return r->n;
}

const struct ptc_stack_process *ptc_stacks_report_process(const struct ptc_stacks_report *r,
							  size_t i)
{
	return i < r->n ? &r->processes[i] : NULL;
}

uint64_t ptc_stacks_report_left_out(const struct ptc_stacks_report *r)
{
	return r->left_out;
}

const struct ptc_crash_state *ptc_stack_process_state(const struct ptc_stack_process *p)
{
	return &p->state;
}

bool ptc_stack_process_is_unmapped(const struct ptc_stack_process *p)
{
	return p->unmapped;
}

size_t ptc_stack_process_deadlocks(const struct ptc_stack_process *p)
{
	return p->deadlocks.n;
}

const size_t *ptc_stack_process_deadlock(const struct ptc_stack_process *p, size_t i, size_t *ret_n)
{
	const struct ptc_deadlocks *d = &p->deadlocks;

	if (i >= d->n)
		return NULL;
	*ret_n = d->begins[i + 1] - d->begins[i];
	return d->threads + d->begins[i];
}

const struct ptc_stack_thread *ptc_stack_process_thread(const struct ptc_stack_process *p, size_t i)
{
	return i < p->state.nthreads ? &p->threads[i].shown : NULL;
}
