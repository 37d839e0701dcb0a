/* SPDX-License-Identifier: MIT */
/* `ptcap crash show --format json`: doc/json.md. */
#include <stdint.h>
#include <stdio.h>

#include "arch/disasm.h"
#include "cli/common/field_writer.h"
#include "cli/common/python_json.h"
#include "cli/crash/crash_out.h"

enum { FRAMES_MAX = 256 }; /* limit per stack; depth is the real number */

static const struct ptc_crash_signal *signal_of(const struct ptc_crash_report *r)
{
	return ptc_crash_state_signal(ptc_crash_report_state(r));
}

static void put_file_and_line(struct ptc_emit *e, const char *file, int line)
{
	ptc_emit_text(e, "file", file);
	if (file)
		ptc_emit_i64(e, "line", line);
	else
		ptc_emit_text(e, "line", NULL);
}

static void put_source(struct ptc_emit *e, const struct ptc_crash_place *p)
{
	put_file_and_line(e, p->source, p->line);
}

/* Print the inlined functions and the real function, the innermost first. */
static void put_functions(struct ptc_emit *e, const char *name, const struct ptc_crash_place *p)
{
	size_t i;

	ptc_emit_rows(e, name);
	for (i = 0; i < p->nfunctions; i++) {
		ptc_emit_row(e);
		ptc_emit_text(e, "function", p->functions[i].function);
		put_file_and_line(e, p->functions[i].file, p->functions[i].line);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_place(struct ptc_emit *e, const struct ptc_crash_place *p)
{
	ptc_emit_hex(e, "ip", p->ip);
	ptc_emit_text(e, "function", p->function);
	if (p->function)
		ptc_emit_hex(e, "offset", p->offset);
	ptc_emit_text(e, "module", p->file);
	put_source(e, p);
	put_functions(e, "functions", p);
}

static void put_insn(struct ptc_emit *e, const uint8_t *bytes, size_t len, uint64_t ip)
{
	char text[PTC_DISASM_MAX];

	if (len)
		ptc_disasm(PTC_MODE_64, bytes, len, ip, text);
	ptc_emit_text(e, "insn", len ? text : NULL);
}

static void put_registers(struct ptc_emit *e, const struct ptc_crash_thread *t)
{
	size_t i;

	ptc_emit_object(e, "registers");
	for (i = 0; i < PTC_REG_COUNT; i++)
		ptc_emit_hex(e, ptc_crash_reg_name(i), t->regs[i]);
	ptc_emit_end(e);
}

static void put_fault(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_crash_point *at = ptc_crash_report_point(r);
	const struct ptc_crash_why *why = ptc_crash_report_why(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	ptc_emit_object(e, "fault");
	ptc_crash_place_at(r, at->ip, &place);
	put_place(e, &place);
	put_insn(e, at->insn, at->insn_len, place.ip);
	ptc_emit_text(e, "access", ptc_access_name(why->access));
	if (why->has_addr)
		ptc_emit_hex(e, "address", why->addr);
	else
		ptc_emit_text(e, "address", NULL);
	if (why->size)
		ptc_emit_u64(e, "size", why->size);
	put_registers(e,
		      ptc_crash_state_registers(ptc_crash_state_victim(ptc_crash_report_state(r))));
	ptc_emit_end(e);
}

static void put_culprit(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_item *by = ptc_crash_report_culprit(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!by)
		return;
	ptc_emit_object(e, "culprit");
	ptc_crash_place_at(r, by->from, &place);
	put_place(e, &place);
	put_insn(e, by->insn, by->insn_len, by->from);
	ptc_emit_word(e, "kind", ptc_kind_name((enum ptc_kind)by->kind));
	ptc_emit_hex(e, "to", by->to);
	ptc_emit_end(e);
}

static void put_stack(struct ptc_emit *e, const char *name, const struct ptc_crash_report *r,
		      const struct ptc_crash_stack *s)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_crash_frame *f;
	size_t i;

	ptc_emit_rows(e, name);
	for (i = 0; (f = ptc_crash_stack_frame(s, i)) != NULL && i < FRAMES_MAX; i++) {
		ptc_emit_row(e);
		ptc_crash_place_frame(r, f, &place);
		put_place(e, &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_branches(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_item *it;
	size_t i;

	ptc_emit_rows(e, "branches");
	for (i = 0; (it = ptc_crash_report_branch(r, i)) != NULL; i++) {
		ptc_emit_row(e);
		if (it->type == PTC_ITEM_GAP) {
			ptc_emit_word(e, "gap", ptc_gap_name((enum ptc_gap_cause)it->cause));
			ptc_emit_u64(e, "bytes", it->to);
			ptc_emit_end(e);
			continue;
		}
		ptc_emit_hex(e, "from", it->from);
		ptc_emit_hex(e, "to", it->to);
		if (it->flags & PTC_ITEM_TO_ZERO)
			ptc_emit_bool(e, "to_is_address", true);
		ptc_emit_word(e, "kind", ptc_kind_name((enum ptc_kind)it->kind));
		ptc_crash_place_at(r, it->from, &place);
		ptc_emit_text(e, "function", place.function);
		put_source(e, &place);
		put_functions(e, "functions", &place);
		ptc_crash_place_at(r, it->to, &place);
		ptc_emit_text(e, "to_function", place.function);
		put_functions(e, "to_functions", &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_threads(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_crash_state *dead = ptc_crash_report_state(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_crash_state_thread *t;
	size_t i;

	ptc_emit_rows(e, "threads");
	for (i = 0; (t = ptc_crash_state_get_thread(dead, i)) != NULL; i++) {
		const struct ptc_crash_thread *regs = ptc_crash_state_registers(t);

		ptc_emit_row(e);
		ptc_emit_u64(e, "tid", regs->tid);
		ptc_emit_text(e, "name", ptc_crash_state_thread_name(t));
		ptc_emit_bool(e, "killed", t == ptc_crash_state_victim(dead));
		ptc_emit_bool(e, "in_call", regs->in_call != 0);
		ptc_crash_place_at(r, regs->regs[PTC_REG_RIP], &place);
		put_place(e, &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_messages(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_runtime_text *m;
	size_t i;

	ptc_emit_rows(e, "messages");
	for (i = 0; (m = ptc_crash_report_message(r, i)) != NULL; i++) {
		ptc_emit_row(e);
		ptc_emit_word(e, "kind", ptc_runtime_message_name(m->kind));
		if (m->type[0])
			ptc_emit_text(e, "type", m->type);
		ptc_emit_text(e, "text", m->text[0] ? m->text : NULL);
		if (m->cut)
			ptc_emit_bool(e, "cut", true);
		if (m->kind == PTC_CRASH_GO_PANIC)
			ptc_emit_u64(e, "goroutine", m->goroutine);
		if (m->file[0]) {
			ptc_emit_text(e, "file", m->file);
			ptc_emit_u64(e, "line", m->line);
			ptc_emit_u64(e, "column", m->column);
		}
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_signature(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const char *frame;
	size_t i;

	ptc_emit_word(e, "signature", ptc_crash_report_signature(r));
	ptc_emit_u64(e, "signature_version", ptc_crash_report_signature_version(r));
	ptc_emit_text(e, "signature_reason", ptc_crash_report_signature_reason(r));
	ptc_emit_list(e, "signature_frames");
	for (i = 0; (frame = ptc_crash_report_signature_frame(r, i)) != NULL; i++)
		ptc_emit_text(e, NULL, frame);
	ptc_emit_end(e);
}

static void put_own_place(struct ptc_emit *e, const char *name, const struct ptc_crash_report *r,
			  const struct ptc_crash_frame *f)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	ptc_emit_object(e, name);
	ptc_crash_place_frame(r, f, &place);
	(void)ptc_crash_find_user_code(r, &place);
	put_place(e, &place);
	ptc_emit_end(e);
}

static void put_own_places(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_crash_frame *thrown = ptc_crash_report_thrown(r);
	const int gave_up = ptc_crash_report_gave_up(r);

	if (gave_up >= 0)
		put_own_place(e, "gave_up", r,
			      ptc_crash_stack_frame(ptc_crash_report_believed(r), (size_t)gave_up));
	if (thrown)
		put_own_place(e, "thrown", r, thrown);
}

static void put_other_deaths(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const uint64_t left_out = ptc_crash_report_deaths_left_out(r), pid = signal_of(r)->pid;
	const struct ptc_crash_signal *death;
	char name[16];
	size_t i;

	if (ptc_crash_report_deaths(r) < 2)
		return;
	ptc_emit_rows(e, "others");
	for (i = 0; (death = ptc_crash_report_death(r, i)) != NULL; i++) {
		if (death->pid == pid)
			continue;
		ptc_crash_signal_name(death->signo, name);
		ptc_emit_row(e);
		ptc_emit_u64(e, "pid", death->pid);
		ptc_emit_word(e, "signal", name);
		if (death->exit_status)
			ptc_emit_u64(e, "exit_status", death->exit_status);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
	if (left_out)
		ptc_emit_u64(e, "others_left_out", left_out);
}

static void put_signal(struct ptc_emit *e, const struct ptc_crash_signal *signal)
{
	char name[16];

	ptc_crash_signal_name(signal->signo, name);
	ptc_emit_word(e, "signal", name);
	ptc_emit_i64(e, "code", signal->code);
	if (signal->exit_status)
		ptc_emit_u64(e, "exit_status", signal->exit_status);
	ptc_emit_u64(e, "pid", signal->pid);
	ptc_emit_u64(e, "tid", signal->tid);
}

static void put_stacks(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *traced = ptc_crash_report_traced(r);
	const struct ptc_crash_stack *unwound = ptc_crash_report_unwound(r);

	ptc_emit_u64(e, "traced_depth", ptc_crash_stack_depth(traced));
	put_stack(e, "stack_traced", r, traced);
	ptc_emit_u64(e, "unwound_depth", ptc_crash_stack_depth(unwound));
	put_stack(e, "stack_unwound", r, unwound);
	ptc_emit_bool(e, "traced_cut", ptc_crash_stack_is_cut(traced));
	ptc_emit_bool(e, "unwound_cut", ptc_crash_stack_is_cut(unwound));
	if (signal_of(r)->no_memory)
		ptc_emit_bool(e, "no_memory", true);
	if (ptc_crash_stack_ends_in(unwound))
		ptc_emit_text(e, "unwound_ends_in", ptc_crash_stack_ends_in(unwound));
}

static void put_loop(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_silent_loop *loop = ptc_crash_report_loop(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!loop)
		return;
	ptc_emit_object(e, "unshown_loop");
	ptc_crash_place_at(r, loop->ip, &place);
	put_place(e, &place);
	ptc_emit_u64(e, "instructions", loop->insns);
	ptc_emit_bool(e, "calls", loop->calls);
	ptc_emit_end(e);
}

static void put_conclusions(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const uint64_t cut = ptc_crash_state_cut(ptc_crash_report_state(r));
	const struct ptc_crash_core *core = ptc_crash_report_core(r);

	if (ptc_crash_report_differ_at(r) != PTC_CRASH_SAME)
		ptc_emit_i64(e, "differ_at", ptc_crash_report_differ_at(r));
	if (ptc_crash_report_gave_up(r) >= 0)
		ptc_emit_i64(e, "gave_up_at", ptc_crash_report_gave_up(r));
	ptc_emit_bool(e, "trace_ends_there", !ptc_crash_report_trace_is_short(r));
	if (core) {
		ptc_emit_bool(e, "state_of_core", core->is_state);
		ptc_emit_bool(e, "core_agrees", !core->moved);
	}
	if (cut)
		ptc_emit_u64(e, "cut", cut);
}

bool ptc_crash_json(const struct ptc_crash_report *r)
{
	struct ptc_emit e = { .json = true };
	char text[PTC_CRASH_SENTENCE];

	ptc_emit_object(&e, NULL);
	ptc_emit_word(&e, "schema", "ptcap-crash");
	ptc_emit_u64(&e, "version", 1);
	put_signal(&e, signal_of(r));
	ptc_emit_word(&e, "reason", ptc_reason_name(ptc_crash_report_why(r)->reason));
	ptc_crash_sentence(r, SIZE_MAX, text);
	ptc_emit_text(&e, "text", text);
	put_signature(&e, r);
	put_messages(&e, r);
	put_own_places(&e, r);
	put_fault(&e, r);
	put_culprit(&e, r);
	ptc_python_json(&e, ptc_crash_report_python(r), SIZE_MAX);
	put_stacks(&e, r);
	put_loop(&e, r);
	put_conclusions(&e, r);
	put_branches(&e, r);
	put_threads(&e, r);
	put_other_deaths(&e, r);
	ptc_emit_end(&e);
	putchar('\n');
	return !e.failed;
}
