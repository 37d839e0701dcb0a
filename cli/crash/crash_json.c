/* SPDX-License-Identifier: MIT */
/* `ptcap crash show --format json`: doc/json.md. */
#include <stdint.h>
#include <stdio.h>

#include "arch/disasm.h"
#include "cli/common/field_writer.h"
#include "cli/common/python_json.h"
#include "cli/crash/crash_out.h"
#include "decode/crash/user_code.h"

enum { FRAMES_MAX = 256 }; /* limit per stack; depth is the real number */

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
	const struct ptc_crash_thread *t = &r->victim->state;
	struct ptc_crash_place place;

	ptc_emit_object(e, "fault");
	ptc_crash_place(r, r->ip, &place);
	put_place(e, &place);
	put_insn(e, r->insn, r->insn_len, place.ip);
	ptc_emit_text(e, "access", ptc_access_name(r->why.access));
	if (r->why.has_addr)
		ptc_emit_hex(e, "address", r->why.addr);
	else
		ptc_emit_text(e, "address", NULL);
	if (r->why.size)
		ptc_emit_u64(e, "size", r->why.size);
	put_registers(e, t);
	ptc_emit_end(e);
}

static void put_culprit(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_item *by = r->culprit;
	struct ptc_crash_place place;

	if (!by)
		return;
	ptc_emit_object(e, "culprit");
	ptc_crash_place(r, by->from, &place);
	put_place(e, &place);
	put_insn(e, by->insn, by->insn_len, by->from);
	ptc_emit_word(e, "kind", ptc_kind_name((enum ptc_kind)by->kind));
	ptc_emit_hex(e, "to", by->to);
	ptc_emit_end(e);
}

static void put_stack(struct ptc_emit *e, const char *name, const struct ptc_crash_report *r,
		      const struct ptc_crash_stack *s)
{
	struct ptc_crash_place place;
	size_t i;

	ptc_emit_rows(e, name);
	for (i = 0; i < s->n && i < FRAMES_MAX; i++) {
		ptc_emit_row(e);
		ptc_crash_place_frame(r, &s->frames[i], &place);
		put_place(e, &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_branches(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	struct ptc_crash_place place;
	size_t i;

	ptc_emit_rows(e, "branches");
	for (i = 0; i < r->flow.nbranches; i++) {
		const struct ptc_item *it = ptc_crash_flow_branch(&r->flow, i);

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
		ptc_crash_place(r, it->from, &place);
		ptc_emit_text(e, "function", place.function);
		put_source(e, &place);
		put_functions(e, "functions", &place);
		ptc_crash_place(r, it->to, &place);
		ptc_emit_text(e, "to_function", place.function);
		put_functions(e, "to_functions", &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_threads(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	struct ptc_crash_place place;
	size_t i;

	ptc_emit_rows(e, "threads");
	for (i = 0; i < r->dead.nthreads; i++) {
		const struct ptc_crash_state_thread *t = &r->dead.threads[i];

		ptc_emit_row(e);
		ptc_emit_u64(e, "tid", t->state.tid);
		ptc_emit_text(e, "name", t->name);
		ptc_emit_bool(e, "killed", t == r->victim);
		ptc_emit_bool(e, "in_call", t->state.in_call != 0);
		ptc_crash_place(r, t->state.regs[PTC_REG_RIP], &place);
		put_place(e, &place);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_messages(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	size_t i;

	ptc_emit_rows(e, "messages");
	for (i = 0; i < r->nmessages; i++) {
		const struct ptc_runtime_message *m = &r->messages[i];

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

static void put_own_place(struct ptc_emit *e, const char *name, const struct ptc_crash_report *r,
			  const struct ptc_crash_frame *f)
{
	struct ptc_crash_place place;

	ptc_emit_object(e, name);
	ptc_crash_place_frame(r, f, &place);
	(void)ptc_crash_find_user_code(r, &place);
	put_place(e, &place);
	ptc_emit_end(e);
}

static void put_own_places(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	if (r->gave_up >= 0)
		put_own_place(e, "gave_up", r, &ptc_crash_believed(r)->frames[r->gave_up]);
	if (r->has_thrown)
		put_own_place(e, "thrown", r, &r->thrown);
}

static void put_other_deaths(struct ptc_emit *e, const struct ptc_crash_report *r)
{
	const struct ptc_crash_deaths *d = &r->deaths;
	char name[16];
	size_t i;

	if (d->n < 2)
		return;
	ptc_emit_rows(e, "others");
	for (i = 0; i < d->n; i++) {
		if (d->items[i].pid == r->dead.signal.pid)
			continue;
		ptc_crash_signal_name(d->items[i].signo, name);
		ptc_emit_row(e);
		ptc_emit_u64(e, "pid", d->items[i].pid);
		ptc_emit_word(e, "signal", name);
		if (d->items[i].exit_status)
			ptc_emit_u64(e, "exit_status", d->items[i].exit_status);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
	if (d->left_out)
		ptc_emit_u64(e, "others_left_out", d->left_out);
}

bool ptc_crash_json(const struct ptc_crash_report *r)
{
	struct ptc_emit e = { .json = true };
	char text[PTC_CRASH_SENTENCE], name[16];
	struct ptc_crash_place place;

	ptc_emit_object(&e, NULL);
	ptc_emit_word(&e, "schema", "ptcap-crash");
	ptc_emit_u64(&e, "version", 1);
	ptc_crash_signal_name(r->dead.signal.signo, name);
	ptc_emit_word(&e, "signal", name);
	ptc_emit_i64(&e, "code", r->dead.signal.code);
	if (r->dead.signal.exit_status)
		ptc_emit_u64(&e, "exit_status", r->dead.signal.exit_status);
	ptc_emit_u64(&e, "pid", r->dead.signal.pid);
	ptc_emit_u64(&e, "tid", r->dead.signal.tid);
	ptc_emit_word(&e, "reason", ptc_reason_name(r->why.reason));
	ptc_crash_sentence(r, SIZE_MAX, text);
	ptc_emit_text(&e, "text", text);
	put_messages(&e, r);
	put_own_places(&e, r);
	put_fault(&e, r);
	put_culprit(&e, r);
	ptc_python_json(&e, &r->python, SIZE_MAX);
	ptc_emit_u64(&e, "traced_depth", r->traced.n);
	put_stack(&e, "stack_traced", r, &r->traced);
	ptc_emit_u64(&e, "unwound_depth", r->unwound.n);
	put_stack(&e, "stack_unwound", r, &r->unwound);
	ptc_emit_bool(&e, "traced_cut", r->traced.cut);
	ptc_emit_bool(&e, "unwound_cut", r->unwound.cut);
	if (r->dead.signal.no_memory)
		ptc_emit_bool(&e, "no_memory", true);
	if (r->unwound.ends_in)
		ptc_emit_text(&e, "unwound_ends_in", r->unwound.ends_in);
	if (r->circle.insns) {
		ptc_emit_object(&e, "unshown_loop");
		ptc_crash_place(r, r->circle.ip, &place);
		put_place(&e, &place);
		ptc_emit_u64(&e, "instructions", r->circle.insns);
		ptc_emit_bool(&e, "calls", r->circle.calls);
		ptc_emit_end(&e);
	}
	if (r->differ != PTC_CRASH_SAME)
		ptc_emit_i64(&e, "differ_at", r->differ);
	if (r->gave_up >= 0)
		ptc_emit_i64(&e, "gave_up_at", r->gave_up);
	ptc_emit_bool(&e, "trace_ends_there", !r->trace_is_short);
	if (r->has_core) {
		ptc_emit_bool(&e, "state_of_core", r->of_core);
		ptc_emit_bool(&e, "core_agrees", !r->core_odd);
	}
	if (r->dead.cut)
		ptc_emit_u64(&e, "cut", r->dead.cut);
	put_branches(&e, r);
	put_threads(&e, r);
	put_other_deaths(&e, r);
	ptc_emit_end(&e);
	putchar('\n');
	return !e.failed;
}
