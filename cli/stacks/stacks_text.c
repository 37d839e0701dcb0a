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
		const struct ptc_stack_thread *t = &p->threads[threads[i]];

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
	const struct ptc_deadlocks *d = &p->deadlocks;
	size_t i;

	for (i = 0; i < d->n; i++)
		show_circle(p, d->threads + d->begins[i], d->begins[i + 1] - d->begins[i], color);
	if (d->n)
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

static void show_frame(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		       const struct ptc_stack_thread *t, size_t i)
{
	struct ptc_crash_place place;

	ptc_stacks_place(r, p, t, i, &place);
	printf(" %3zu ", i);
	show_inlined(&place);
	if (place.function) {
		ptc_show_plain(place.function);
		printf("+0x%" PRIx64, place.offset);
	} else if (place.file) {
		ptc_show_plain(base_name(place.file));
		printf("+0x%" PRIx64, place.file_offset);
	} else {
		printf("0x%" PRIx64, place.ip);
	}
	if (place.functions[place.nfunctions - 1].file) {
		show_line(place.functions[place.nfunctions - 1].file,
			  place.functions[place.nfunctions - 1].line);
	} else if (place.function && place.file) {
		printf("  ");
		ptc_show_plain(base_name(place.file));
	}
	putchar('\n');
}

static void show_stack(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		       const struct ptc_stack_thread *t, size_t max)
{
	size_t i;

	for (i = 0; i < t->stack.n && i < max; i++)
		show_frame(r, p, t, i);
	if (t->stack.n > max)
		printf("     ... %zu more ...\n", t->stack.n - max);
	if (t->stack.cut)
		printf("     the outermost frames are not known: %s\n",
		       t->stack.unsaved ? "their memory was not saved" : "there are too many");
	if (!t->stack.n)
		printf("     0x%" PRIx64 ": no stack\n", t->state->state.regs[PTC_REG_RIP]);
	if (t->ends_in) {
		printf("     the stack ends here: the file '");
		ptc_show_plain(t->ends_in);
		printf("' with the unwind information is missing\n");
	}
}

/* Prints Python's functions of the thread. */
static void show_python(const struct ptc_python_frames *f, size_t max)
{
	size_t i;

	if (f->n || f->cut)
		printf("     python:\n");
	for (i = 0; i < f->n && i < max; i++) {
		printf(" %3zu ", i);
		ptc_show_plain(f->items[i].function);
		printf("  ");
		ptc_show_plain(base_name(f->items[i].file));
		if (f->items[i].line)
			printf(":%" PRIu32, f->items[i].line);
		putchar('\n');
	}
	if (f->n > max)
		printf("     ... %s%zu more ...\n", f->cut ? "at least " : "", f->n - max);
	else if (f->cut)
		printf("     the outermost functions are not known: the saved memory has no "
		       "more\n");
}

/* --- threads with the same stack --- */

static bool is_in(const struct ptc_stack_process *p, size_t first, size_t i)
{
	return p->threads[i].same_as == first;
}

static size_t count_same(const struct ptc_stack_process *p, size_t first)
{
	size_t n = 0, i;

	for (i = first; i < p->state.nthreads; i++)
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
	return !strcmp(g->p->threads[i].state->name, name);
}

/* Prints the threads with one name: "12-15,18 (worker)". */
static void show_ids(const struct group *g, const bool *chosen, const char *name)
{
	const char *sep = " ";
	size_t i, k;

	for (i = g->first; i < g->p->state.nthreads; i = k) {
		const uint64_t tid = g->p->threads[i].state->state.tid;

		k = i + 1;
		if (!chosen[i] || g->shown[i] || !has_name(g, i, name))
			continue;
		while (k < g->p->state.nthreads && chosen[k] && !g->shown[k] &&
		       has_name(g, k, name) && g->p->threads[k].state->state.tid == tid + (k - i))
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

	for (i = g->first; i < g->p->state.nthreads; i++) {
		if (!chosen[i] || g->shown[i])
			continue;
		printf("%s", sep);
		show_ids(g, chosen, g->p->threads[i].state->name);
		sep = ",";
	}
	putchar('\n');
}

/* Chooses the threads whose sentence is that of thread @first. Returns their number. */
static size_t choose(const struct group *g, size_t first, bool *chosen)
{
	char wanted[PTC_STACKS_SENTENCE], text[PTC_STACKS_SENTENCE];
	size_t i, n = 0;

	ptc_stacks_sentence(g->p, &g->p->threads[first], wanted);
	for (i = 0; i < g->p->state.nthreads; i++) {
		chosen[i] = false;
		if (i < first || !is_in(g->p, g->first, i) || g->shown[i])
			continue;
		ptc_stacks_sentence(g->p, &g->p->threads[i], text);
		chosen[i] = !strcmp(text, wanted);
		n += chosen[i];
	}
	return n;
}

/* Prints what the threads of a group wait for, with the threads of each sentence. */
static bool show_group(struct group *g)
{
	const size_t all = g->p->state.nthreads;
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
		ptc_stacks_sentence(g->p, &g->p->threads[i], text);
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
	const struct ptc_crash_state *s = &p->state;
	const char *name = "";
	size_t i;

	for (i = 0; i < s->nthreads; i++)
		if (s->threads[i].state.tid == s->signal.pid)
			name = s->threads[i].name;
	printf("%sprocess %" PRIu64 " (", v->color ? "\033[1m" : "", s->signal.pid);
	ptc_show_plain(name);
	printf(")%s: %zu thread%s", v->color ? "\033[m" : "", s->nthreads, ptc_plural(s->nthreads));
	if (v->verbose && s->live.pid)
		printf(", stood still for %.3f ms, %" PRIu64 " system call%s restarted",
		       (double)s->live.stopped_ns / 1e6, s->live.restarted,
		       ptc_plural(s->live.restarted));
	putchar('\n');
	if (s->signal.no_memory)
		printf("recorded without memory (--no-memory): only the innermost frames are "
		       "known\n");
	if (s->cut)
		printf("%" PRIu64 " bytes of stacks and code exceeded the limit\n", s->cut);
	if (p->unmapped)
		printf("the recording has no mappings of this process\n");
}

static bool show_process(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
			 const struct ptc_stacks_view *v)
{
	size_t i;

	show_head(p, v);
	for (i = 0; i < p->state.nthreads; i++) {
		struct group g = { .p = p, .first = i };

		if (p->threads[i].same_as != i)
			continue;
		g.n = count_same(p, i);
		putchar('\n');
		if (g.n == 1)
			show_one(p, &p->threads[i]);
		else if (!show_group(&g))
			return false;
		show_stack(r, p, &p->threads[i], v->frames);
		show_python(&p->threads[i].python, v->frames);
	}
	return true;
}

bool ptc_stacks_text(const struct ptc_stacks_report *r, const struct ptc_stacks_view *v)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		show_deadlocks(&r->processes[i], v->color);
	for (i = 0; i < r->n; i++) {
		if (i)
			putchar('\n');
		if (!show_process(r, &r->processes[i], v))
			return false;
	}
	if (r->left_out)
		printf("\n%" PRIu64 " state%s of more processes not shown; select them with -p\n",
		       r->left_out, ptc_plural(r->left_out));
	return true;
}
