/* SPDX-License-Identifier: MIT */
/* The first lines of `ptcap crash show`: why the program died, and where. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/disasm.h"
#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"
#include "cli/crash/source_lines.h"

enum { LABEL = 10, NAME = 32, PARTS = 12, LOOKUPS = 1000, SENTENCE_LINES = 3, MESSAGES = 2 };
enum { NAME_BYTES = NAME * 4, PART_TEXT = NAME_BYTES + 32, PATH_TEXT = PARTS * (PART_TEXT + 8) };
/* Each death has a number of 64 bits and a name of a signal. */
enum { DEATHS_TEXT = (PTC_CRASH_DEATHS_MAX + 2) * 64 };

/* Columns that @taken columns leave of a line. */
static size_t left_of(const struct ptc_crash_view *v, size_t taken)
{
	return v->width == SIZE_MAX ? SIZE_MAX : v->width > taken ? v->width - taken : 1;
}

static const struct ptc_crash_signal *signal_of(const struct ptc_crash_report *r)
{
	return ptc_crash_state_signal(ptc_crash_report_state(r));
}

static const struct ptc_crash_state_thread *victim_of(const struct ptc_crash_report *r)
{
	return ptc_crash_state_victim(ptc_crash_report_state(r));
}

/* Is there no code at the last address, because a branch led astray? */
static bool is_astray(const struct ptc_crash_report *r)
{
	const struct ptc_crash_why *why = ptc_crash_report_why(r);

	return why->is_target && why->addr == ptc_crash_report_point(r)->ip;
}

static void add_reason(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	char text[PTC_CRASH_SENTENCE + 32], sentence[PTC_CRASH_SENTENCE], name[16];
	const struct ptc_crash_signal *signal = signal_of(v->r);
	const size_t first = s->n;

	ptc_crash_signal_name(signal->signo, name);
	ptc_crash_sentence(v->r, v->width == SIZE_MAX ? SIZE_MAX : v->width / 2, sentence);
	(void)snprintf(text, sizeof(text), "%s: %s", name, sentence);
	ptc_screen_wrap(s, LABEL, SENTENCE_LINES, text);
	ptc_screen_style(s, first, PTC_STYLE_RED, strlen(name));
}

/* Append the messages of the runtime that gave up. */
static void add_messages(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const size_t most = v->verbose ? SIZE_MAX : MESSAGES;
	const struct ptc_runtime_text *m;
	size_t i;

	for (i = 0; (m = ptc_crash_report_message(v->r, i)) != NULL && i < most; i++) {
		char *text = NULL, place[64] = "";

		if (m->file[0])
			(void)snprintf(place, sizeof(place), ":%" PRIu32 ":%" PRIu32 ")", m->line,
				       m->column);
		if (m->kind == PTC_CRASH_GO_PANIC)
			(void)snprintf(place, sizeof(place), " (goroutine %" PRIu64 ")",
				       m->goroutine);
		if (asprintf(&text, "  says    %s%s%s%s%s%s%s", m->type,
			     m->type[0] && m->text[0] ? ": " : "", m->text, m->cut ? "..." : "",
			     m->file[0] ? " (" : "", m->file, place) < 0) {
			s->failed = true;
			return;
		}
		ptc_screen_wrap(s, LABEL, v->verbose ? SIZE_MAX : 2, text);
		free(text);
	}
}

static void add_labelled(const struct ptc_crash_view *v, struct ptc_screen *s, const char *label,
			 const struct ptc_crash_place *p)
{
	char *text = ptc_place_text(p, left_of(v, LABEL));

	if (text)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  %-8s%s", label, text);
	s->failed |= !text;
	free(text);
}

/*
 * Set @p to the user's function. Code without a name, for example of a JIT compiler, tells a reader
 * nothing. *@ret_deep: @p is inside of a function that the user called.
 */
static bool is_known_user_code(const struct ptc_crash_report *r, struct ptc_crash_place *p,
			       bool *ret_deep)
{
	const char *innermost = p->functions[0].function;

	if ((!p->function && !p->source) || !ptc_crash_find_user_code(r, p))
		return false;
	*ret_deep |= p->nfunctions > 1 && p->function != innermost;
	return true;
}

/*
 * Get the innermost place in the user's code that led to the crash. Returns false if there is none.
 * *@ret_deep: another place is further inside.
 */
static bool find_user_place(const struct ptc_crash_report *r, struct ptc_crash_place *ret,
			    bool *ret_deep)
{
	const struct ptc_crash_stack *stack = ptc_crash_report_believed(r);
	const struct ptc_item *culprit = ptc_crash_report_culprit(r);
	const size_t depth = ptc_crash_stack_depth(stack);
	size_t i;

	*ret_deep = is_astray(r);
	if (culprit && *ret_deep) {
		ptc_crash_place_at(r, culprit->from, ret);
		if (is_known_user_code(r, ret, ret_deep))
			return true;
	}
	for (i = is_astray(r); i < depth; i++) {
		ptc_crash_place_frame(r, ptc_crash_stack_frame(stack, i), ret);
		if (is_known_user_code(r, ret, ret_deep))
			return true;
		*ret_deep = true;
	}
	return false;
}

/* Append the place of abort()'s caller, or of throw. */
static void add_places_of_abort(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const struct ptc_crash_report *r = v->r;
	const struct ptc_crash_frame *thrown = ptc_crash_report_thrown(r);
	const struct ptc_crash_frame *at = ptc_crash_stack_frame(
		ptc_crash_report_believed(r), (size_t)ptc_crash_report_gave_up(r));
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	ptc_crash_place_frame(r, at, &place);
	(void)ptc_crash_find_user_code(r, &place);
	add_labelled(v, s, "at", &place);
	if (thrown && thrown->pc != at->pc) {
		ptc_crash_place_frame(r, thrown, &place);
		(void)ptc_crash_find_user_code(r, &place);
		add_labelled(v, s, "thrown", &place);
	}
	ptc_crash_add_source(v, s, &place);
}

static void add_places(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	struct ptc_crash_place at = PTC_CRASH_PLACE_INIT, user = PTC_CRASH_PLACE_INIT;
	bool deep, found;

	if (ptc_crash_report_gave_up(v->r) >= 0) {
		add_places_of_abort(v, s);
		return;
	}
	found = find_user_place(v->r, &user, &deep);
	ptc_crash_place_at(v->r, ptc_crash_report_point(v->r)->ip, &at);
	ptc_crash_place_level(&at, 0);
	if (!(found && is_astray(v->r)))
		add_labelled(v, s, "at", &at);
	if (found && deep) {
		/* Looked up again: the name is lent until the next lookup. */
		(void)find_user_place(v->r, &user, &deep);
		add_labelled(v, s, "from", &user);
	}
	ptc_crash_add_source(v, s, found ? &user : &at);
}

/* --- the instruction --- */

static void add_insn(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const struct ptc_crash_report *r = v->r;
	const uint64_t *regs = ptc_crash_state_registers(victim_of(r))->regs;
	const struct ptc_crash_point *at = ptc_crash_report_point(r);
	const struct ptc_item *culprit = ptc_crash_report_culprit(r);
	char insn[PTC_DISASM_MAX], text[PTC_DISASM_MAX + PTC_REG_COUNT * 32];
	size_t i, n;

	if (!at->insn_len && !culprit)
		return;
	if (at->insn_len)
		ptc_disasm(PTC_MODE_64, at->insn, at->insn_len, at->ip, insn);
	else
		ptc_disasm(PTC_MODE_64, culprit->insn, culprit->insn_len, culprit->from, insn);
	n = (size_t)snprintf(text, sizeof(text), "  insn    0x%" PRIx64 "  %s",
			     at->insn_len ? at->ip : culprit->from, insn);
	for (i = 0; at->insn_len && i < PTC_REG_COUNT && n < sizeof(text); i++)
		if (at->regs >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "  %s=0x%" PRIx64,
					      ptc_crash_reg_name(i), regs[i]);
	ptc_screen_wrap(s, LABEL, 2, text);
}

/* --- the user's frames --- */

/* A function of the path, or consecutive frames of it. */
struct part {
	char *name; /* owned */
	size_t times;
	bool runtime;
};

struct path {
	struct part parts[PARTS]; /* innermost first */
	size_t n;
	bool cut; /* there are more */
};

static bool add_part(struct path *path, const struct ptc_crash_place *p, bool runtime, bool *failed)
{
	struct part *last = path->n ? &path->parts[path->n - 1] : NULL;
	char *name = ptc_place_bare_name(p, NAME);

	*failed |= !name;
	if (name && last && !strcmp(last->name, name)) {
		last->times++;
		free(name);
		return true;
	}
	if (!name || path->n == PARTS) {
		path->cut = true;
		free(name);
		return false;
	}
	path->parts[path->n++] = (struct part){ name, 1, runtime };
	return true;
}

/*
 * Add the user's functions in frame @f. @any: add the function also if it is of a library. Returns
 * false if there is no more room.
 */
static bool add_frame_parts(const struct ptc_crash_report *r, const struct ptc_crash_frame *f,
			    bool any, struct path *path, bool *failed)
{
	struct ptc_crash_place frame = PTC_CRASH_PLACE_INIT, p;
	size_t i;
	bool users = false;

	ptc_crash_place_frame(r, f, &frame);
	for (i = 0; i < frame.nfunctions; i++) {
		p = frame;
		ptc_crash_place_level(&p, i);
		if (ptc_crash_is_runtime(r, &p))
			continue;
		users = true;
		if (!add_part(path, &p, false, failed))
			return false;
	}
	return users || !any || add_part(path, &frame, true, failed);
}

/* Returns the innermost frame of the user's code, or the library function that this frame called.
 */
static size_t first_of_path(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *stack = ptc_crash_report_believed(r);
	const size_t start = is_astray(r), depth = ptc_crash_stack_depth(stack);
	struct ptc_crash_place p = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = start; i < depth; i++) {
		ptc_crash_place_frame(r, ptc_crash_stack_frame(stack, i), &p);
		if (ptc_crash_find_user_code(r, &p))
			return i > start ? i - 1 : i;
	}
	return start;
}

/* Collect the functions of the user from the inside to the outside. */
static void find_path(const struct ptc_crash_report *r, struct path *path, bool *failed)
{
	const struct ptc_crash_stack *stack = ptc_crash_report_believed(r);
	const size_t start = first_of_path(r);
	const struct ptc_crash_frame *f;
	size_t i, lookups = 0;

	for (i = start; (f = ptc_crash_stack_frame(stack, i)) != NULL; i++) {
		if (i > start && path->n && f->pc == ptc_crash_stack_frame(stack, i - 1)->pc) {
			path->parts[path->n - 1].times++; /* a recursion */
			continue;
		}
		if (lookups++ == LOOKUPS) {
			path->cut = true;
			return;
		}
		if (!add_frame_parts(r, f, i == start, path, failed))
			return;
	}
	path->cut |= ptc_crash_stack_is_cut(stack);
}

/* Write the part with its number of frames to @ret. Returns its columns. */
static size_t format_part(const struct part *p, char ret[PART_TEXT])
{
	size_t n = (size_t)snprintf(ret, NAME_BYTES + 1, "%s", p->name);

	n = n < NAME_BYTES ? n : NAME_BYTES;
	if (p->times > 1)
		(void)snprintf(ret + n, 32, " [%zu frames]", p->times);
	else if (p->runtime && !strchr(p->name, '('))
		(void)snprintf(ret + n, 32, "()");
	return ptc_plain_width(ret);
}

static void add_path(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	static const char arrow[] = " > ", more[] = "... > ";
	struct path path = { .n = 0 };
	char text[PATH_TEXT], part[PART_TEXT];
	size_t width = LABEL, shown = 0, n = 0, i;

	find_path(v->r, &path, &s->failed);
	while (shown < path.n) {
		const bool last = shown + 1 == path.n && !path.cut;
		const size_t need = format_part(&path.parts[shown], part);

		if (shown && width + need + (last ? 0 : sizeof(more) - 1) > v->width)
			break;
		width += need + sizeof(arrow) - 1;
		shown++;
	}
	if (path.cut || shown < path.n)
		n = (size_t)snprintf(text, sizeof(text), "%s", more);
	for (i = shown; i-- > 0;) {
		(void)format_part(&path.parts[i], part);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", part, i ? arrow : "");
	}
	if (path.n > 1 || path.cut)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  path    %s", text);
	for (i = 0; i < path.n; i++)
		free(path.parts[i].name);
}

/* --- notes --- */

static void add_notes(const struct ptc_crash_report *r, struct ptc_screen *s)
{
	const struct ptc_crash_core *core = ptc_crash_report_core(r);
	const uint64_t cut = ptc_crash_state_cut(ptc_crash_report_state(r));

	if (core && core->is_state)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  state   from the core dump");
	else if (core && core->moved)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "  core    differs: %zu thread%s at another place; written at "
			       "another time",
			       core->moved, ptc_plural(core->moved));
	else if (core)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  core    agrees");
	if (cut)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "  cut     %" PRIu64 " bytes of stacks and code exceeded the limit",
			       cut);
	if (!ptc_crash_report_branches(r))
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  the recording has no trace of this thread");
	else if (ptc_crash_report_trace_is_short(r))
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "  the trace ends before the crash; the branches below are older");
}

/* Names the other processes that the recording has the deaths of. */
static void add_other_deaths(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const uint64_t left_out = ptc_crash_report_deaths_left_out(v->r);
	const struct ptc_crash_signal *death;
	char text[DEATHS_TEXT], name[16];
	const char *before = "  others  process";
	size_t n = 0, i;

	for (i = 0; (death = ptc_crash_report_death(v->r, i)) != NULL; i++) {
		if (death->pid == signal_of(v->r)->pid)
			continue;
		ptc_crash_signal_name(death->signo, name);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %" PRIu64 " (%s)", before,
				      death->pid, name);
		before = ",";
	}
	if (!n)
		return;
	if (left_out)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " and %" PRIu64 " earlier",
				      left_out);
	(void)snprintf(text + n, sizeof(text) - n, "; --pid chooses one");
	ptc_screen_wrap(s, LABEL, v->verbose ? SIZE_MAX : SENTENCE_LINES, text);
}

static void add_signature(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const char *frame;
	size_t i;

	ptc_screen_add(s, PTC_STYLE_PLAIN, "  sig     %s", ptc_crash_report_signature(v->r));
	if (!v->verbose)
		return;
	ptc_screen_add(s, PTC_STYLE_PLAIN, "%*s%s", LABEL, "",
		       ptc_crash_report_signature_reason(v->r));
	for (i = 0; (frame = ptc_crash_report_signature_frame(v->r, i)) != NULL; i++)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "%*s%s", LABEL, "", frame);
}

void ptc_crash_add_answer(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const struct ptc_crash_report *r = v->r;

	add_reason(v, s);
	add_messages(v, s);
	add_places(v, s);
	if (ptc_crash_report_gave_up(r) < 0)
		add_insn(v, s);
	add_path(v, s);
	ptc_screen_add(s, PTC_STYLE_PLAIN, "  in      thread %" PRIu64 " (%s) of process %" PRIu64,
		       signal_of(r)->tid, ptc_crash_state_thread_name(victim_of(r)),
		       signal_of(r)->pid);
	add_signature(v, s);
	add_other_deaths(v, s);
	add_notes(r, s);
}
