/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_callgrind.h"

#include <stdlib.h>

#include "ptcap/feature.h"
#include "ptcap/file.h"
#include "ptcap/lookup.h"

/* The state of the printer of one profile. */
struct printing {
	struct ptc_callgrind *c;
	struct ptc_line *l;
	bool *defined_functions, *defined_files; /* owned; their names were printed */
	size_t at_line, at_call;		 /* the next cost and call to print */
	uint32_t object, file;			 /* of the lines being printed */
};

static int on_call_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_callgrind *c = ctx;

	return ptc_call_costs_event(&c->calls, e);
}

bool ptc_callgrind_init(struct ptc_callgrind *c, struct ptc_decode *d)
{
	const struct ptc_call_stream_opts opts = { .d = d, .on_event = on_call_event, .ctx = c };
	uint64_t first, last;
	struct ptc_err ignored;

	*c = (struct ptc_callgrind){ .failed = false };
	if (ptc_call_stream_init(&c->stream, &opts))
		return false;
	ptc_line_costs_init(&c->lines, &c->stream);
	if (!ptc_call_costs_init(&c->calls, &c->stream)) {
		ptc_callgrind_release(c);
		return false;
	}
	c->has_time = !ptc_decode_is_of_software(d) &&
		      !ptc_decode_get_times(d, &first, &last, &ignored);
	return true;
}

void ptc_callgrind_release(struct ptc_callgrind *c)
{
	ptc_call_costs_release(&c->calls);
	ptc_line_costs_release(&c->lines);
	ptc_call_stream_release(&c->stream);
}

int ptc_callgrind_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_callgrind *c = ctx;

	if (ptc_call_stream_items(&c->stream, items, n) ||
	    ptc_line_costs_items(&c->lines, items, n))
		c->failed = true;
	return c->failed;
}

/* --- printing --- */

/* Print "(12) name" when the name is first used, then "(12)". */
static void put_number(struct printing *p, uint32_t number)
{
	ptc_line_char(p->l, '(');
	ptc_line_dec(p->l, (int64_t)number + 1);
	ptc_line_char(p->l, ')');
}

static void put_file_name(struct printing *p, const char *key, uint32_t name)
{
	const char *text = ptc_names_of(&p->c->stream.names, name);

	ptc_line_str(p->l, key);
	put_number(p, name);
	if (!p->defined_files[name]) {
		ptc_line_char(p->l, ' ');
		ptc_line_plain(p->l, text && *text ? text : "???", "");
	}
	p->defined_files[name] = true;
	ptc_line_char(p->l, '\n');
}

static void put_function_name(struct printing *p, const char *key, uint32_t number)
{
	char buf[4096];

	ptc_line_str(p->l, key);
	put_number(p, number);
	if (!p->defined_functions[number]) {
		ptc_line_char(p->l, ' ');
		ptc_line_plain(p->l,
			       ptc_call_function_name(&p->c->stream, number, buf, sizeof(buf)), "");
	}
	p->defined_functions[number] = true;
	ptc_line_char(p->l, '\n');
}

static void put_costs(struct printing *p, uint32_t line, uint64_t insns, uint64_t ns)
{
	ptc_line_dec(p->l, line);
	ptc_line_char(p->l, ' ');
	ptc_line_dec(p->l, (int64_t)insns);
	if (p->c->has_time) {
		ptc_line_char(p->l, ' ');
		ptc_line_dec(p->l, (int64_t)ns);
	}
	ptc_line_char(p->l, '\n');
}

/* Returns where a function begins. A function that was not entered begins at its first cost. */
static struct ptc_source_line begin_of(const struct ptc_callgrind *c, uint32_t function)
{
	static const struct ptc_source_line unknown;

	if (function < c->calls.nfunctions && c->calls.functions[function].entered)
		return c->calls.functions[function].begin;
	return unknown;
}

/* Change to the source file @file inside a function of @own. */
static void change_file(struct printing *p, uint32_t file, uint32_t own)
{
	if (file == p->file)
		return;
	put_file_name(p, file == own ? "fe=" : "fi=", file);
	p->file = file;
}

static void put_call(struct printing *p, const struct ptc_call_cost *call)
{
	const struct ptc_source_line begin = begin_of(p->c, call->callee);

	put_file_name(p, "cob=", p->c->stream.functions[call->callee].file);
	put_file_name(p, "cfi=", begin.file);
	put_function_name(p, "cfn=", call->callee);
	ptc_line_str(p->l, "calls=");
	ptc_line_dec(p->l, (int64_t)call->times);
	ptc_line_char(p->l, ' ');
	ptc_line_dec(p->l, begin.line);
	ptc_line_char(p->l, '\n');
	put_costs(p, call->at.line, call->insns, call->ns);
}

/* Print the costs and calls of a function. */
static void put_function(struct printing *p, uint32_t function)
{
	struct ptc_callgrind *c = p->c;
	struct ptc_source_line begin = begin_of(c, function);
	const uint64_t ns = function < c->calls.nfunctions ? c->calls.functions[function].ns : 0;

	if (!begin.file && p->at_line < c->lines.n &&
	    c->lines.costs[p->at_line].function == function)
		begin = c->lines.costs[p->at_line].at;
	ptc_line_char(p->l, '\n');
	put_file_name(p, "ob=", c->stream.functions[function].file);
	put_file_name(p, "fl=", begin.file);
	put_function_name(p, "fn=", function);
	p->file = begin.file;
	if (c->has_time && ns)
		put_costs(p, begin.line, 0, ns);
	for (; p->at_line < c->lines.n && c->lines.costs[p->at_line].function == function;
	     p->at_line++) {
		change_file(p, c->lines.costs[p->at_line].at.file, begin.file);
		put_costs(p, c->lines.costs[p->at_line].at.line, c->lines.costs[p->at_line].insns,
			  0);
	}
	for (; p->at_call < c->calls.n && c->calls.calls[p->at_call].caller == function;
	     p->at_call++) {
		change_file(p, c->calls.calls[p->at_call].at.file, begin.file);
		put_call(p, &c->calls.calls[p->at_call]);
	}
}

static uint64_t sum_of_lines(const struct ptc_line_costs *c)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		sum += c->costs[i].insns;
	return sum;
}

static uint64_t sum_of_times(const struct ptc_call_costs *c)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->nfunctions; i++)
		sum += c->functions[i].ns;
	return sum;
}

static void put_command(struct printing *p)
{
	const struct ptc_file *file = ptc_decode_recording(p->c->stream.opts.d);
	struct ptc_feature_iter it;
	struct ptc_err ignored;
	struct ptc_cur section;
	const char *word;
	uint64_t off;

	if (!file || !ptc_file_feature(file, PTC_FEAT_CMDLINE, &section, &off) ||
	    ptc_feature_open(PTC_FEAT_CMDLINE, section, off, &it, &ignored))
		return;
	ptc_line_str(p->l, "cmd:");
	while (ptc_feature_next_string(&it, &word, &ignored) > 0) {
		ptc_line_char(p->l, ' ');
		ptc_line_plain(p->l, word, "");
	}
	ptc_line_char(p->l, '\n');
}

static void put_sums(struct printing *p, const char *key)
{
	ptc_line_str(p->l, key);
	ptc_line_dec(p->l, (int64_t)sum_of_lines(&p->c->lines));
	if (p->c->has_time) {
		ptc_line_char(p->l, ' ');
		ptc_line_dec(p->l, (int64_t)sum_of_times(&p->c->calls));
	}
	ptc_line_char(p->l, '\n');
}

static bool has_own_time(const struct ptc_callgrind *c, uint32_t function)
{
	return c->has_time && function < c->calls.nfunctions && c->calls.functions[function].ns;
}

static void put_all(struct printing *p)
{
	const struct ptc_callgrind *c = p->c;
	uint32_t i;

	ptc_line_str(p->l, "# callgrind format\nversion: 1\ncreator: ptcap\n");
	put_command(p);
	ptc_line_str(p->l, "positions: line\n");
	ptc_line_str(p->l,
		     c->has_time ? "event: ns : Nanoseconds\nevents: Ir ns\n" : "events: Ir\n");
	put_sums(p, "summary: ");
	for (i = 0; i < c->stream.nfunctions; i++)
		if ((p->at_line < c->lines.n && c->lines.costs[p->at_line].function == i) ||
		    (p->at_call < c->calls.n && c->calls.calls[p->at_call].caller == i) ||
		    has_own_time(c, i))
			put_function(p, i);
	ptc_line_char(p->l, '\n');
	put_sums(p, "totals: ");
}

/* Returns whether each function of the stream was entered. NULL: out of memory. Caller frees it. */
static bool *entered_functions(const struct ptc_callgrind *c)
{
	bool *ret = calloc(c->calls.nfunctions + 1, sizeof(*ret));
	size_t i;

	for (i = 0; ret && i < c->calls.nfunctions; i++)
		ret[i] = c->calls.functions[i].entered;
	return ret;
}

bool ptc_callgrind_print(struct ptc_callgrind *c, struct ptc_line *l)
{
	struct printing p = { .c = c, .l = l };
	bool *entered = NULL, ok = !c->failed && !ptc_call_stream_finish(&c->stream);

	if (ok)
		entered = entered_functions(c);
	ok = ok && entered && ptc_line_costs_settle(&c->lines, entered, c->calls.nfunctions);
	ptc_call_costs_sort(&c->calls);
	p.defined_functions = calloc(c->stream.nfunctions + 1, sizeof(bool));
	p.defined_files = calloc(c->stream.names.n + 1, sizeof(bool));
	ok = ok && p.defined_functions && p.defined_files;
	if (ok)
		put_all(&p);
	free(entered);
	free(p.defined_functions);
	free(p.defined_files);
	return ok;
}
