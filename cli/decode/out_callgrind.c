/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ptcap/feature.h"
#include "ptcap/file.h"
#include "ptcap/lookup.h"

/* The state of the printer of one profile. */
struct printing {
	const struct ptc_callgrind_sums *c;
	struct ptc_line *l;
	struct ptc_function_order order; /* owned */
	/* Owned: the printed numbers of the functions and the files. 0: not printed yet. */
	uint32_t *functions, *files;
	uint32_t nfunctions, nfiles; /* printed ones */
	size_t at_line, at_call;     /* the next cost and call to print */
	uint32_t file;		     /* of the lines being printed */
};

static int on_call_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_callgrind *c = ctx;

	return ptc_call_costs_event(&c->calls, e);
}

bool ptc_callgrind_init(struct ptc_callgrind *c, struct ptc_decode *d)
{
	const struct ptc_call_stream_opts opts = { .d = d, .on_event = on_call_event, .ctx = c };

	*c = (struct ptc_callgrind){ .failed = false };
	if (ptc_call_stream_init(&c->stream, &opts))
		return false;
	ptc_line_costs_init(&c->lines, &c->stream);
	if (!ptc_call_costs_init(&c->calls, &c->stream)) {
		ptc_callgrind_release(c);
		return false;
	}
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

/* Print "(12) name" when the name is first used, then "(12)". Returns whether the name is missing.
 */
static bool put_number(struct printing *p, uint32_t *number, uint32_t *last)
{
	const bool is_new = !*number;

	if (is_new)
		*number = ++*last;
	ptc_line_char(p->l, '(');
	ptc_line_dec(p->l, *number);
	ptc_line_str(p->l, is_new ? ") " : ")");
	return is_new;
}

static void put_file_name(struct printing *p, const char *key, uint32_t name)
{
	const char *text = ptc_names_of(&p->c->stream->names, name);

	ptc_line_str(p->l, key);
	if (put_number(p, &p->files[name], &p->nfiles))
		ptc_line_plain(p->l, text && *text ? text : "???", "");
	ptc_line_char(p->l, '\n');
}

static void put_function_name(struct printing *p, const char *key, uint32_t number)
{
	char buf[4096];

	ptc_line_str(p->l, key);
	if (put_number(p, &p->functions[number], &p->nfunctions))
		ptc_line_plain(p->l, ptc_call_function_name(p->c->stream, number, buf, sizeof(buf)),
			       "");
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
static struct ptc_source_line begin_of(const struct ptc_call_costs *c, uint32_t function)
{
	static const struct ptc_source_line unknown;

	if (function < c->nfunctions && c->functions[function].entered)
		return c->functions[function].begin;
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
	const struct ptc_source_line begin = begin_of(p->c->calls, call->callee);

	put_file_name(p, "cob=", p->c->stream->functions[call->callee].file);
	put_file_name(p, "cfi=", begin.file);
	put_function_name(p, "cfn=", call->callee);
	ptc_line_str(p->l, "calls=");
	ptc_line_dec(p->l, (int64_t)call->times);
	ptc_line_char(p->l, ' ');
	ptc_line_dec(p->l, begin.line);
	ptc_line_char(p->l, '\n');
	put_costs(p, call->at.line, call->insns, call->ns);
}

static uint64_t own_time(const struct ptc_callgrind_sums *c, uint32_t function)
{
	return c->has_time && function < c->calls->nfunctions ? c->calls->functions[function].ns :
								0;
}

/* Returns the next cost of a line of @function. NULL: all are printed. */
static const struct ptc_line_cost *next_cost(const struct printing *p, uint32_t function)
{
	const struct ptc_line_costs *lines = p->c->lines;

	if (p->at_line == lines->n || lines->costs[p->at_line].function != function)
		return NULL;
	return &lines->costs[p->at_line];
}

/* Returns the next call by @function. NULL: all are printed. */
static const struct ptc_call_cost *next_call(const struct printing *p, uint32_t function)
{
	const struct ptc_call_costs *calls = p->c->calls;

	if (p->at_call == calls->n || calls->calls[p->at_call].caller != function)
		return NULL;
	return &calls->calls[p->at_call];
}

/* Print the costs and calls of a function. */
static void put_function(struct printing *p, uint32_t function)
{
	const struct ptc_callgrind_sums *c = p->c;
	const struct ptc_line_cost *cost = next_cost(p, function);
	const struct ptc_call_cost *call;
	struct ptc_source_line begin = begin_of(c->calls, function);
	const uint64_t ns = own_time(c, function);

	if (!begin.file && cost)
		begin = cost->at;
	ptc_line_char(p->l, '\n');
	put_file_name(p, "ob=", c->stream->functions[function].file);
	put_file_name(p, "fl=", begin.file);
	put_function_name(p, "fn=", function);
	p->file = begin.file;
	if (ns)
		put_costs(p, begin.line, 0, ns);
	for (; (cost = next_cost(p, function)); p->at_line++) {
		change_file(p, cost->at.file, begin.file);
		put_costs(p, cost->at.line, cost->insns, 0);
	}
	for (; (call = next_call(p, function)); p->at_call++) {
		change_file(p, call->at.file, begin.file);
		put_call(p, call);
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

static void put_sums(struct printing *p, const char *key)
{
	ptc_line_str(p->l, key);
	ptc_line_dec(p->l, (int64_t)sum_of_lines(p->c->lines));
	if (p->c->has_time) {
		ptc_line_char(p->l, ' ');
		ptc_line_dec(p->l, (int64_t)sum_of_times(p->c->calls));
	}
	ptc_line_char(p->l, '\n');
}

static void put_all(struct printing *p)
{
	const struct ptc_callgrind_sums *c = p->c;
	size_t i;

	ptc_line_str(p->l, "# callgrind format\nversion: 1\ncreator: ptcap\n");
	if (c->command) {
		ptc_line_str(p->l, "cmd:");
		ptc_line_plain(p->l, c->command, "");
		ptc_line_char(p->l, '\n');
	}
	ptc_line_str(p->l, "positions: line\n");
	ptc_line_str(p->l,
		     c->has_time ? "event: ns : Nanoseconds\nevents: Ir ns\n" : "events: Ir\n");
	put_sums(p, "summary: ");
	for (i = 0; i < c->stream->nfunctions; i++) {
		const uint32_t function = p->order.at[i];

		if (next_cost(p, function) || next_call(p, function) || own_time(c, function))
			put_function(p, function);
	}
	ptc_line_char(p->l, '\n');
	put_sums(p, "totals: ");
}

/* Returns whether each function of the stream was entered. NULL: out of memory. Caller frees it. */
static bool *entered_functions(const struct ptc_call_costs *c)
{
	bool *ret = calloc(c->nfunctions + 1, sizeof(*ret));
	size_t i;

	for (i = 0; ret && i < c->nfunctions; i++)
		ret[i] = c->functions[i].entered;
	return ret;
}

bool ptc_callgrind_print_sums(const struct ptc_callgrind_sums *s, struct ptc_line *l)
{
	struct printing p = { .c = s, .l = l };
	bool *entered = entered_functions(s->calls);
	bool ok = ptc_function_order_init(&p.order, s->stream) && entered;

	p.functions = calloc(s->stream->nfunctions + 1, sizeof(*p.functions));
	p.files = calloc(s->stream->names.n + 1, sizeof(*p.files));
	ok = ok && p.functions && p.files &&
	     ptc_line_costs_settle(s->lines, entered, s->calls->nfunctions, &p.order);
	if (ok) {
		ptc_call_costs_sort(s->calls, &p.order);
		put_all(&p);
	}
	free(entered);
	free(p.functions);
	free(p.files);
	ptc_function_order_release(&p.order);
	return ok;
}

/* --- the recording --- */

bool ptc_callgrind_has_time(struct ptc_decode *d)
{
	uint64_t first, last;
	struct ptc_err ignored;

	return !ptc_decode_is_of_software(d) && !ptc_decode_get_times(d, &first, &last, &ignored);
}

bool ptc_callgrind_command(const struct ptc_decode *d, char **ret)
{
	const struct ptc_file *file = ptc_decode_recording(d);
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_feature_iter it;
	struct ptc_err ignored;
	struct ptc_cur section;
	const char *word;
	uint64_t off;

	*ret = NULL;
	if (!file || !ptc_file_feature(file, PTC_FEAT_CMDLINE, &section, &off) ||
	    ptc_feature_open(PTC_FEAT_CMDLINE, section, off, &it, &ignored))
		return true;
	while (ptc_feature_next_string(&it, &word, &ignored) > 0) {
		ptc_buf_u8(&text, ' ');
		ptc_buf_put(&text, word, strlen(word));
	}
	ptc_buf_u8(&text, 0);
	if (!ptc_buf_failed(&text))
		*ret = strdup((const char *)text.bytes);
	ptc_buf_release(&text);
	return *ret;
}

bool ptc_callgrind_print(struct ptc_callgrind *c, struct ptc_line *l)
{
	struct ptc_decode *d = c->stream.opts.d;
	struct ptc_callgrind_sums sums = { .stream = &c->stream,
					   .lines = &c->lines,
					   .calls = &c->calls,
					   .has_time = ptc_callgrind_has_time(d) };
	char *command = NULL;
	bool ok = !c->failed && !ptc_call_stream_finish(&c->stream);

	if (ok)
		ok = ptc_callgrind_command(d, &command);
	ptc_line_costs_count(&c->lines);
	sums.command = command;
	ok = ok && ptc_callgrind_print_sums(&sums, l);
	free(command);
	return ok;
}
