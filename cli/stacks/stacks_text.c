/* SPDX-License-Identifier: MIT */
/* Text output of `ptcap stacks`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/text_escape.h"
#include "cli/stacks/stacks_out.h"

enum { SENTENCES = 8 /* different sentences of threads with the same stack */ };

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* --- deadlocks --- */

static void show_circle(const struct ptc_stack_process *p, const size_t *threads, size_t n,
			bool color)
{
	char text[PTC_STACKS_SENTENCE], name[64];
	size_t i;

	printf("%sDEADLOCK:%s ", color ? "\033[1;31m" : "", color ? "\033[m" : "");
	for (i = 0; i < n; i++) {
		const struct ptc_stack_thread *t = ptc_stack_process_thread(p, threads[i]);

		ptc_stacks_thread_name(t->state, name, sizeof(name));
		ptc_stacks_sentence(p, t, text);
		printf("%s", i ? "; " : "");
		ptc_show_plain(name);
		putchar(' ');
		ptc_show_plain(text);
	}
	putchar('\n');
}

static void show_deadlocks(const struct ptc_stack_process *p, bool color)
{
	const size_t *threads;
	size_t i, n;

	for (i = 0; (threads = ptc_stack_process_deadlock(p, i, &n)) != NULL; i++)
		show_circle(p, threads, n, color);
	if (i)
		putchar('\n');
}

/* --- stacks --- */

static void show_line(const char *file, int line)
{
	if (!file)
		return;
	printf("  ");
	ptc_show_plain(base_name(file));
	printf(":%d", line);
}

/* Prints the functions that are inlined at the place, the innermost first. */
static void show_inlined(const struct ptc_crash_place *p)
{
	size_t i;

	for (i = 0; i + 1 < p->nfunctions; i++) {
		ptc_show_plain(p->functions[i].function ? p->functions[i].function : "?");
		show_line(p->functions[i].file, p->functions[i].line);
		printf(" (inlined)\n     ");
	}
}

static void show_frame(const struct ptc_crash_place *p, size_t i)
{
	const struct ptc_inline_frame *real = &p->functions[p->nfunctions - 1];

	printf(" %3zu ", i);
	show_inlined(p);
	if (p->function) {
		ptc_show_plain(p->function);
		printf("+0x%" PRIx64, p->offset);
	} else if (p->file) {
		ptc_show_plain(base_name(p->file));
		printf("+0x%" PRIx64, p->file_offset);
	} else {
		printf("0x%" PRIx64, p->ip);
	}
	if (real->file) {
		show_line(real->file, real->line);
	} else if (p->function && p->file) {
		printf("  ");
		ptc_show_plain(base_name(p->file));
	}
	putchar('\n');
}

static void show_stack(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		       size_t thread, size_t max)
{
	const struct ptc_stack_thread *t = ptc_stack_process_thread(p, thread);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < max && ptc_stacks_place(r, p, thread, i, &place); i++)
		show_frame(&place, i);
	if (t->depth > max)
		printf("     ... %zu more ...\n", t->depth - max);
	if (t->cut)
		printf("     the outermost frames are not known: %s\n",
		       t->unsaved ? "their memory was not saved" : "there are too many");
	if (!t->depth)
		printf("     0x%" PRIx64 ": no stack\n",
		       ptc_crash_state_registers(t->state)->regs[PTC_REG_RIP]);
	if (t->ends_in) {
		printf("     the stack ends here: the file '");
		ptc_show_plain(t->ends_in);
		printf("' with the unwind information is missing\n");
	}
}

/* Prints Python's functions of the thread. */
static void show_python(const struct ptc_python_frames *f, size_t max)
{
	const size_t n = ptc_python_frames_count(f);
	const bool cut = ptc_python_frames_are_cut(f);
	size_t i;

	if (n || cut)
		printf("     python:\n");
	for (i = 0; i < n && i < max; i++) {
		const uint32_t line = ptc_python_frames_line(f, i);

		printf(" %3zu ", i);
		ptc_show_plain(ptc_python_frames_function(f, i));
		printf("  ");
		ptc_show_plain(base_name(ptc_python_frames_file(f, i)));
		if (line)
			printf(":%" PRIu32, line);
		putchar('\n');
	}
	if (n > max)
		printf("     ... %s%zu more ...\n", cut ? "at least " : "", n - max);
	else if (cut)
		printf("     the outermost functions are not known: the saved memory has no "
		       "more\n");
}

/* --- threads with the same stack --- */

static size_t count_threads(const struct ptc_stack_process *p)
{
	return ptc_crash_state_threads(ptc_stack_process_state(p));
}

static const struct ptc_crash_state_thread *state_of(const struct ptc_stack_process *p, size_t i)
{
	return ptc_crash_state_get_thread(ptc_stack_process_state(p), i);
}

static bool is_in(const struct ptc_stack_process *p, size_t first, size_t i)
{
	return ptc_stack_process_thread(p, i)->same_as == first;
}

static size_t count_same(const struct ptc_stack_process *p, size_t first)
{
	size_t n = 0, i;

	for (i = first; i < count_threads(p); i++)
		n += is_in(p, first, i);
	return n;
}

/* The threads of one stack, and which of them have been printed. */
struct group {
	const struct ptc_stack_process *p;
	size_t first, n;
	bool *shown; /* owned; by number of the thread */
};

static bool has_name(const struct group *g, size_t i, const char *name)
{
	return !strcmp(ptc_crash_state_thread_name(state_of(g->p, i)), name);
}

static uint64_t tid_of(const struct group *g, size_t i)
{
	return ptc_crash_state_registers(state_of(g->p, i))->tid;
}

/* Prints the threads with one name: "12-15,18 (worker)". */
static void show_ids(const struct group *g, const bool *chosen, const char *name)
{
	const size_t all = count_threads(g->p);
	const char *sep = " ";
	size_t i, k;

	for (i = g->first; i < all; i = k) {
		const uint64_t tid = tid_of(g, i);

		k = i + 1;
		if (!chosen[i] || g->shown[i] || !has_name(g, i, name))
			continue;
		while (k < all && chosen[k] && !g->shown[k] && has_name(g, k, name) &&
		       tid_of(g, k) == tid + (k - i))
			k++;
		printf("%s%" PRIu64, sep, tid);
		if (k - i > 1)
			printf("-%" PRIu64, tid + (k - i) - 1);
		sep = ",";
		memset(g->shown + i, 1, k - i);
	}
	printf(" (");
	ptc_show_plain(name);
	printf(")");
}

/* Prints the chosen threads, name by name. */
static void show_members(const struct group *g, const bool *chosen)
{
	const char *sep = "";
	size_t i;

	for (i = g->first; i < count_threads(g->p); i++) {
		if (!chosen[i] || g->shown[i])
			continue;
		printf("%s", sep);
		show_ids(g, chosen, ptc_crash_state_thread_name(state_of(g->p, i)));
		sep = ",";
	}
	putchar('\n');
}

/* Chooses the threads whose sentence is that of thread @first. Returns their number. */
static size_t choose(const struct group *g, size_t first, bool *chosen)
{
	char wanted[PTC_STACKS_SENTENCE], text[PTC_STACKS_SENTENCE];
	size_t i, n = 0;

	ptc_stacks_sentence(g->p, ptc_stack_process_thread(g->p, first), wanted);
	for (i = 0; i < count_threads(g->p); i++) {
		chosen[i] = false;
		if (i < first || !is_in(g->p, g->first, i) || g->shown[i])
			continue;
		ptc_stacks_sentence(g->p, ptc_stack_process_thread(g->p, i), text);
		chosen[i] = !strcmp(text, wanted);
		n += chosen[i];
	}
	return n;
}

/* Prints what the threads of a group wait for, with the threads of each sentence. */
static bool show_group(struct group *g)
{
	const size_t all = count_threads(g->p);
	bool *chosen = calloc(all + 1, sizeof(*chosen));
	char text[PTC_STACKS_SENTENCE];
	size_t i, n, sentences = 0, left = g->n;

	g->shown = calloc(all + 1, sizeof(*g->shown));
	if (!g->shown || !chosen) {
		free(chosen);
		free(g->shown);
		return false;
	}
	for (i = g->first; i < all && left; i++) {
		if (!is_in(g->p, g->first, i) || g->shown[i])
			continue;
		if (sentences++ == SENTENCES) {
			printf("%zu more threads with this stack\n", left);
			break;
		}
		n = choose(g, i, chosen);
		left -= n;
		ptc_stacks_sentence(g->p, ptc_stack_process_thread(g->p, i), text);
		printf("%zu thread%s: ", n, ptc_plural(n));
		ptc_show_plain(text);
		printf("\n    ");
		show_members(g, chosen);
	}
	free(chosen);
	free(g->shown);
	return true;
}

static void show_one(const struct ptc_stack_process *p, const struct ptc_stack_thread *t)
{
	char text[PTC_STACKS_SENTENCE], name[64];

	ptc_stacks_thread_name(t->state, name, sizeof(name));
	ptc_stacks_sentence(p, t, text);
	ptc_show_plain(name);
	printf(": ");
	ptc_show_plain(text);
	putchar('\n');
}

/* --- processes --- */

static void show_head(const struct ptc_stack_process *p, const struct ptc_stacks_view *v)
{
	const struct ptc_crash_state *s = ptc_stack_process_state(p);
	const struct ptc_crash_signal *signal = ptc_crash_state_signal(s);
	const struct ptc_crash_live *live = ptc_crash_state_live(s);
	const size_t n = count_threads(p);
	const char *name = "";
	size_t i;

	for (i = 0; i < n; i++)
		if (ptc_crash_state_registers(state_of(p, i))->tid == signal->pid)
			name = ptc_crash_state_thread_name(state_of(p, i));
	printf("%sprocess %" PRIu64 " (", v->color ? "\033[1m" : "", signal->pid);
	ptc_show_plain(name);
	printf(")%s: %zu thread%s", v->color ? "\033[m" : "", n, ptc_plural(n));
	if (v->verbose && live)
		printf(", stood still for %.3f ms, %" PRIu64 " system call%s restarted",
		       (double)live->stopped_ns / 1e6, live->restarted,
		       ptc_plural(live->restarted));
	putchar('\n');
	if (signal->no_memory)
		printf("recorded without memory (--no-memory): only the innermost frames are "
		       "known\n");
	if (ptc_crash_state_cut(s))
		printf("%" PRIu64 " bytes of stacks and code exceeded the limit\n",
		       ptc_crash_state_cut(s));
	if (ptc_stack_process_is_unmapped(p))
		printf("the recording has no mappings of this process\n");
}

static bool show_process(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
			 const struct ptc_stacks_view *v)
{
	size_t i;

	show_head(p, v);
	for (i = 0; i < count_threads(p); i++) {
		const struct ptc_stack_thread *t = ptc_stack_process_thread(p, i);
		struct group g = { .p = p, .first = i };

		if (t->same_as != i)
			continue;
		g.n = count_same(p, i);
		putchar('\n');
		if (g.n == 1)
			show_one(p, t);
		else if (!show_group(&g))
			return false;
		show_stack(r, p, i, v->frames);
		show_python(t->python, v->frames);
	}
	return true;
}

bool ptc_stacks_text(const struct ptc_stacks_report *r, const struct ptc_stacks_view *v)
{
	const uint64_t left_out = ptc_stacks_report_left_out(r);
	const size_t n = ptc_stacks_report_processes(r);
	size_t i;

	for (i = 0; i < n; i++)
		show_deadlocks(ptc_stacks_report_process(r, i), v->color);
	for (i = 0; i < n; i++) {
		if (i)
			putchar('\n');
		if (!show_process(r, ptc_stacks_report_process(r, i), v))
			return false;
	}
	if (left_out)
		printf("\n%" PRIu64 " state%s of more processes not shown; select them with -p\n",
		       left_out, ptc_plural(left_out));
	return true;
}
