/* SPDX-License-Identifier: MIT */
/* `ptcap stacks --format json`: doc/json.md. */
#include <stdio.h>
#include <string.h>

#include "arch/syscall_name.h"
#include "cli/common/field_writer.h"
#include "cli/common/python_json.h"
#include "cli/stacks/stacks_out.h"

enum { FILE_MAX = 256 };

/* The functions at a place: inlined functions, the innermost first, and last the real function. */
static void put_functions(struct ptc_emit *e, const struct ptc_crash_place *p)
{
	size_t i;

	ptc_emit_rows(e, "functions");
	for (i = 0; i < p->nfunctions; i++) {
		ptc_emit_row(e);
		ptc_emit_text(e, "function", p->functions[i].function);
		ptc_emit_text(e, "file", p->functions[i].file);
		if (p->functions[i].file)
			ptc_emit_i64(e, "line", p->functions[i].line);
		else
			ptc_emit_text(e, "line", NULL);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_frame(struct ptc_emit *e, const struct ptc_crash_place *p)
{
	ptc_emit_row(e);
	ptc_emit_hex(e, "ip", p->ip);
	ptc_emit_text(e, "function", p->function);
	if (p->function)
		ptc_emit_hex(e, "offset", p->offset);
	ptc_emit_text(e, "module", p->file);
	ptc_emit_text(e, "file", p->source);
	if (p->source)
		ptc_emit_i64(e, "line", p->line);
	else
		ptc_emit_text(e, "line", NULL);
	put_functions(e, p);
	ptc_emit_end(e);
}

static void put_stack(struct ptc_emit *e, const struct ptc_stacks_report *r,
		      const struct ptc_stack_process *p, size_t thread, size_t max)
{
	const struct ptc_stack_thread *t = ptc_stack_process_thread(p, thread);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	ptc_emit_u64(e, "depth", t->depth);
	if (t->cut)
		ptc_emit_bool(e, "cut", true);
	if (t->ends_in)
		ptc_emit_text(e, "ends_in", t->ends_in);
	ptc_emit_rows(e, "frames");
	for (i = 0; i < max && ptc_stacks_place(r, p, thread, i, &place); i++)
		put_frame(e, &place);
	ptc_emit_end(e);
}

static void put_call(struct ptc_emit *e, const struct ptc_stack_thread *t)
{
	const struct ptc_cur name = ptc_crash_state_call_file(t->state);
	const size_t n = ptc_cur_left(&name);
	const struct ptc_wait *w = t->wait;
	char file[FILE_MAX + 1];
	size_t i;

	ptc_emit_u64(e, "call_number", w->nr);
	ptc_emit_text(e, "call", ptc_syscall_name(w->nr));
	ptc_emit_list(e, "args");
	for (i = 0; i < sizeof(w->args) / sizeof(w->args[0]); i++)
		ptc_emit_hex(e, NULL, w->args[i]);
	ptc_emit_end(e);
	if (!n)
		return;
	(void)snprintf(file, sizeof(file), "%.*s", (int)(n < FILE_MAX ? n : FILE_MAX),
		       (const char *)name.pos);
	ptc_emit_text(e, "fd_file", file);
}

static void put_wait(struct ptc_emit *e, const struct ptc_stack_process *p,
		     const struct ptc_stack_thread *t)
{
	const struct ptc_wait *w = t->wait;
	char text[PTC_STACKS_SENTENCE];

	ptc_stacks_sentence(p, t, text);
	ptc_emit_text(e, "text", text);
	ptc_emit_object(e, "wait");
	ptc_emit_word(e, "kind", ptc_wait_name(w->kind));
	if (w->nr != PTC_WAIT_NO_CALL)
		put_call(e, t);
	if (w->addr)
		ptc_emit_hex(e, "address", w->addr);
	if (t->object) {
		ptc_emit_text(e, "object", t->object);
		ptc_emit_hex(e, "object_offset", t->object_off);
	}
	if (w->owner) {
		ptc_emit_u64(e, "owner", w->owner);
		ptc_emit_bool(e, "owner_in_process", !w->owner_is_gone);
	}
	ptc_emit_end(e);
}

static void put_thread(struct ptc_emit *e, const struct ptc_stacks_report *r,
		       const struct ptc_stack_process *p, size_t thread, size_t max)
{
	const struct ptc_stack_thread *t = ptc_stack_process_thread(p, thread);
	const struct ptc_crash_thread *regs = ptc_crash_state_registers(t->state);
	const struct ptc_crash_task *k = ptc_crash_state_task(t->state);

	ptc_emit_row(e);
	ptc_emit_u64(e, "tid", regs->tid);
	ptc_emit_text(e, "name", ptc_crash_state_thread_name(t->state));
	if (k->own_tid && k->own_tid != regs->tid)
		ptc_emit_u64(e, "own_tid", k->own_tid);
	if (k->tid)
		ptc_emit_u64(e, "cpu_ns", k->cpu_ns);
	if (k->stop_signal)
		ptc_emit_u64(e, "stop_signal", k->stop_signal);
	if (k->unstopped && regs->regs[PTC_REG_RIP])
		ptc_emit_bool(e, "uninterruptible", true);
	put_wait(e, p, t);
	put_stack(e, r, p, thread, max);
	if (ptc_python_frames_count(t->python) || ptc_python_frames_are_cut(t->python))
		ptc_python_json(e, t->python, max);
	ptc_emit_end(e);
}

static void put_deadlocks(struct ptc_emit *e, const struct ptc_stack_process *p)
{
	const struct ptc_crash_state *s = ptc_stack_process_state(p);
	const size_t *threads;
	size_t i, k, n;

	ptc_emit_rows(e, "deadlocks");
	for (i = 0; (threads = ptc_stack_process_deadlock(p, i, &n)) != NULL; i++) {
		ptc_emit_row(e);
		ptc_emit_list(e, "tids");
		for (k = 0; k < n; k++)
			ptc_emit_u64(
				e, NULL,
				ptc_crash_state_registers(ptc_crash_state_get_thread(s, threads[k]))
					->tid);
		ptc_emit_end(e);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_process(struct ptc_emit *e, const struct ptc_stacks_report *r,
			const struct ptc_stack_process *p, size_t max)
{
	const struct ptc_crash_state *s = ptc_stack_process_state(p);
	const struct ptc_crash_signal *signal = ptc_crash_state_signal(s);
	const struct ptc_crash_live *live = ptc_crash_state_live(s);
	size_t i;

	ptc_emit_row(e);
	ptc_emit_u64(e, "pid", signal->pid);
	if (signal->signo)
		ptc_emit_u64(e, "signal", signal->signo);
	if (live) {
		ptc_emit_u64(e, "stopped_ns", live->stopped_ns);
		ptc_emit_u64(e, "restarted_calls", live->restarted);
	}
	if (signal->no_memory)
		ptc_emit_bool(e, "no_memory", true);
	if (ptc_crash_state_cut(s))
		ptc_emit_u64(e, "cut", ptc_crash_state_cut(s));
	put_deadlocks(e, p);
	ptc_emit_rows(e, "threads");
	for (i = 0; i < ptc_crash_state_threads(s); i++)
		put_thread(e, r, p, i, max);
	ptc_emit_end(e);
	ptc_emit_end(e);
}

bool ptc_stacks_json(const struct ptc_stacks_report *r, const struct ptc_stacks_view *v)
{
	struct ptc_emit e = { .json = true };
	size_t i;

	ptc_emit_object(&e, NULL);
	ptc_emit_word(&e, "schema", "ptcap-stacks");
	ptc_emit_u64(&e, "version", 1);
	ptc_emit_rows(&e, "processes");
	for (i = 0; i < ptc_stacks_report_processes(r); i++)
		put_process(&e, r, ptc_stacks_report_process(r, i), v->frames);
	ptc_emit_end(&e);
	if (ptc_stacks_report_left_out(r))
		ptc_emit_u64(&e, "left_out", ptc_stacks_report_left_out(r));
	ptc_emit_end(&e);
	putchar('\n');
	return !e.failed;
}
