/* SPDX-License-Identifier: MIT */
#include "decode/stacks/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/err.h"
#include "decode/image/codefile.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"

enum {
	NAMES = 8,	  /* innermost frames whose names are looked at */
	CODE_BEFORE = 16, /* bytes in front of a system call in which its number is loaded */
};

/* --- places --- */

static struct ptc_item item_of(const struct ptc_stack_process *p)
{
	return (struct ptc_item){ .pid = (int32_t)p->state.signal.pid,
				  .tid = (int32_t)p->state.signal.tid,
				  .time = p->state.signal.time_ns };
}

void ptc_stacks_place(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		      const struct ptc_stack_thread *t, size_t i, struct ptc_crash_place *ret)
{
	const struct ptc_unwound_frame *f = &t->stack.frames[i];
	/* A return address may be behind the end of its function: look up the call. */
	const uint64_t back = i && !f->interrupted && f->pc;
	const struct ptc_item it = item_of(p);

	*ret = (struct ptc_crash_place){ .ip = f->pc };
	ret->source = ptc_decode_srcline(r->d, &it, f->pc - back, &ret->line);
	ret->file = ptc_decode_file(r->d, &it, f->pc - back, &ret->file_offset);
	ret->function = ptc_decode_symbol(r->d, &it, f->pc - back, &ret->offset);
	ret->nfunctions = ptc_decode_inlines(r->d, &it, f->pc - back, ret->functions);
	ret->offset += back;
	ret->file_offset += back;
	if (ret->nfunctions)
		return;
	ret->nfunctions = 1;
	ret->functions[0] = (struct ptc_inline_frame){ .function = ret->function,
						       .file = ret->source,
						       .line = ret->line };
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
		       const struct ptc_stack_process *p, const struct ptc_stack_thread *t)
{
	struct ptc_crash_place place;

	for (names->n = 0; names->n < NAMES && names->n < t->stack.n; names->n++) {
		ptc_stacks_place(r, p, t, names->n, &place);
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

static int name_object(struct ptc_stack_thread *t, struct ptc_unwinder *w, struct ptc_err *err)
{
	const char *name =
		w && t->wait.addr ? ptc_unwinder_data_name(w, t->wait.addr, &t->object_off) : NULL;

	t->object = name ? strdup(name) : NULL;
	return name && !t->object ? ptc_fail_mem(err) : 0;
}

static int explain_thread(struct ptc_stacks_report *r, const struct ptc_stack_process *p,
			  struct ptc_stack_thread *t, const struct ptc_addrspace *as,
			  struct ptc_unwinder *w, struct ptc_err *err)
{
	/* A thread that did not stop may have no registers. */
	const bool known = !t->state->task.unstopped || t->state->state.regs[PTC_REG_RIP];
	struct names names;
	int rc = w && known ? ptc_unwinder_run(w, &t->state->state, &t->stack, err) : 0;

	if (rc)
		return rc;
	t->ends_in = t->stack.unknown ? t->stack.unknown->name : NULL;
	if (!copy_names(&names, r, p, t))
		rc = ptc_fail_mem(err);
	if (!rc)
		t->wait = ptc_wait_find(&p->state, t->state, call_of(as, &t->state->state),
					names.items, names.n);
	release_names(&names);
	if (!rc)
		rc = name_object(t, w, err);
	return rc ? rc :
		    ptc_python_frames_read(&p->state, t->state->state.tid, &r->python, &t->python,
					   err);
}

/* --- all threads of a process --- */

static bool has_same_stack(const struct ptc_stack_thread *a, const struct ptc_stack_thread *b)
{
	size_t i;

	if (a->stack.n != b->stack.n || a->stack.cut != b->stack.cut || !a->stack.n ||
	    a->wait.kind != b->wait.kind || a->wait.nr != b->wait.nr ||
	    a->wait.addr != b->wait.addr || a->wait.owner != b->wait.owner ||
	    a->state->task.stop_signal != b->state->task.stop_signal ||
	    a->state->task.unstopped != b->state->task.unstopped ||
	    !ptc_python_frames_are_same(&a->python, &b->python))
		return false;
	for (i = 0; i < a->stack.n; i++)
		if (a->stack.frames[i].pc != b->stack.frames[i].pc)
			return false;
	return true;
}

/* A number that is equal for equal stacks. */
static uint64_t hash_of(const struct ptc_stack_thread *t)
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
			if (hashes[k] == hashes[i] && p->threads[k].same_as == k &&
			    has_same_stack(&p->threads[k], &p->threads[i]))
				break;
		p->threads[i].same_as = k;
	}
	free(hashes);
	return 0;
}

/* Returns the number of the thread that @t waits for. */
static size_t waits_for(const struct ptc_stack_process *p, const struct ptc_stack_thread *t)
{
	size_t i;

	for (i = 0; t->wait.owner && !t->wait.owner_is_gone && i < p->state.nthreads; i++)
		if (p->threads[i].state->state.tid == t->wait.owner)
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
		p->threads[i].state = &p->state.threads[i];
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

static bool is_asked(const struct ptc_stacks_show_opts *o, uint64_t pid)
{
	size_t i;

	for (i = 0; i < o->npids && o->pids[i] != pid; i++)
		;
	return !o->npids || i < o->npids;
}

static int read_processes(struct ptc_stacks_report *r, const struct ptc_stacks_show_opts *o,
			  struct ptc_err *err)
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
				o->input, pids.n ? "this process" : "a process");
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
static int read_mappings(struct ptc_stacks_report *r, const struct ptc_stacks_show_opts *o,
			 struct ptc_err *err)
{
	const struct ptc_sink sink = { ignore_items, NULL };
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	int rc;

	opts.last = 1;
	opts.untraced = true;
	opts.code = o->code;
	opts.mangled = o->mangled;
	rc = ptc_decode_open(o->input, &opts, &r->d, err);
	return rc ? rc : ptc_decode_run(r->d, &sink, err);
}

int ptc_stacks_explain(struct ptc_stacks_report *r, const struct ptc_stacks_show_opts *opts,
		       struct ptc_err *err)
{
	int rc = ptc_file_open(opts->input, &r->file, err);
	size_t i;

	r->python = PTC_PYTHON_LIMITS;
	if (!rc)
		rc = read_processes(r, opts, err);
	if (!rc)
		rc = read_mappings(r, opts, err);
	for (i = 0; !rc && i < r->n; i++)
		rc = explain_process(r, &r->processes[i], err);
	return rc;
}

void ptc_stacks_report_release(struct ptc_stacks_report *r)
{
	size_t i, k;

	for (i = 0; i < r->n; i++) {
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
	free(r->processes);
	ptc_decode_free(r->d);
	ptc_file_free(r->file);
	*r = (struct ptc_stacks_report){ .file = NULL };
}
