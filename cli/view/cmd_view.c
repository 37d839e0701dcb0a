/* SPDX-License-Identifier: MIT */
/* `ptcap view`: writes the calls of a recording as a page for a browser, or serves the page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/plural.h"
#include "base/tmpfile.h"
#include "cli/common/cli.h"
#include "cli/common/open_chosen.h"
#include "cli/common/stream_copy.h"
#include "cli/common/terminal.h"
#include "cli/decode/empty_warnings.h"
#include "cli/serve/serve.h"
#include "cli/view/page_writer.h"
#include "cli/view/view_args.h"
#include "cli/view/view_meta.h"
#include "ptcap/lookup.h"

enum { FUNCTIONS_MAX = 1000 * 1000, TEXT_MAX = 256 << 20 };
/* Of a served recording: different branches, and bytes of the temporary file. */
enum { EDGES_MAX = 1000 * 1000 };
#define TEMPORARY_MAX (UINT64_C(64) << 30)

struct view {
	const struct ptc_view_args *a;
	struct ptc_decode *d;
	struct ptc_crash_lines crash;
	struct ptc_call_collector calls;
	struct ptc_page_writer page;
	struct ptc_http_server http;
	struct ptc_served_recording served;
	struct ptc_err err; /* of writing the page; code 0: none */
};

static int put_calls(void *ctx, const struct ptc_buf *chunk)
{
	struct view *v = ctx;

	return ptc_page_put(&v->page, "calls", chunk->bytes, chunk->len, &v->err);
}

static int refuse_many(const struct view *v)
{
	if (v->calls.stream.names.bytes > TEXT_MAX)
		ptc_say("'%s' has names of more than %d MiB, too many for a page; choose a part "
			"with --time, --tid or --cpu",
			v->a->input, TEXT_MAX >> 20);
	else if (v->calls.nsums >= FUNCTIONS_MAX)
		ptc_say("'%s' has more than %d functions, too many for a page; choose a part with "
			"--time, --tid or --cpu",
			v->a->input, FUNCTIONS_MAX);
	else
		ptc_say("'%s' has more than %" PRIu64 " calls and gaps, too many for a page; "
			"choose a part with --time, --tid or --cpu, or use %s--max-calls",
			v->a->input, v->a->max_calls, v->a->serves ? "" : "--serve or ");
	return PTC_EXIT_FAIL;
}

/* Reports why the decode stopped: @r, and @err of the decoder. */
static int say_stopped(const struct view *v, int r, const struct ptc_err *err)
{
	if (v->calls.too_many)
		return refuse_many(v);
	if (v->err.code)
		return ptc_say_err(&v->err);
	return r == PTC_E_STOPPED || r == PTC_E_NO_MEMORY ? ptc_say_no_memory() : ptc_say_err(err);
}

/* Decode, and hand over the events. Returns 0 or an exit code. */
static int collect_calls(struct view *v)
{
	const struct ptc_sink inner = { ptc_call_collector_items, &v->calls };
	struct ptc_progress progress;
	struct ptc_sink sink = inner;
	struct ptc_err err = { .code = PTC_E_STOPPED };
	int r;

	if (ptc_progress_start(&progress, v->d, &inner))
		sink = (struct ptc_sink){ ptc_progress_items, &progress };
	else
		progress.said = false;
	r = ptc_decode_run(v->d, &sink, &err);
	if (sink.ctx == &progress)
		ptc_progress_finish(&progress);
	if (!r)
		r = ptc_call_collector_finish(&v->calls);
	return r ? say_stopped(v, r, &err) : 0;
}

static int write_branches(struct view *v)
{
	const struct ptc_branch_collector *b = &v->calls.branches;
	size_t i;

	for (i = 0; i < b->nchunks; i++)
		if (ptc_page_put(&v->page, "branches", b->chunks[i].bytes, b->chunks[i].len,
				 &v->err))
			return ptc_say_err(&v->err);
	return 0;
}

/* Appends the JSON of ptc_view_meta. Returns 0 or an exit code. */
static int put_meta(struct view *v, struct ptc_buf *ret)
{
	const struct ptc_view_facts facts = {
		.recording = v->a->input,
		.c = &v->calls,
		.crash = &v->crash,
		.symfs = v->a->code.symfs,
		.is_of_software = ptc_decode_is_of_software(v->d),
	};

	return ptc_view_meta(&facts, ret) ? 0 : ptc_say_no_memory();
}

static int write_meta(struct view *v)
{
	struct ptc_buf meta = PTC_BUF_INIT;
	int code = put_meta(v, &meta);

	if (!code && ptc_page_put(&v->page, "meta", meta.bytes, meta.len, &v->err))
		code = ptc_say_err(&v->err);
	ptc_buf_release(&meta);
	return code;
}

static void tell_view(const struct view *v)
{
	const uint64_t calls = v->calls.ncalls;
	const char *note;
	size_t i;

	if (v->a->serves)
		ptc_say("'%s': %" PRIu64 " call%s, %zu thread%s, %" PRIu64
			" MiB in a temporary file",
			v->a->input, calls, ptc_plural(calls), v->calls.nthreads,
			ptc_plural(v->calls.nthreads), v->served.file.size >> 20);
	else if (strcmp(v->a->output, "-") != 0)
		ptc_say("wrote '%s': %" PRIu64 " call%s, %zu thread%s, %" PRIu64 " bytes",
			v->a->output, calls, ptc_plural(calls), v->calls.nthreads,
			ptc_plural(v->calls.nthreads), v->page.size);
	if (v->calls.nlost)
		ptc_say("%" PRIu64 " gap%s in the trace", v->calls.nlost,
			ptc_plural(v->calls.nlost));
	for (i = 0; (note = ptc_decode_note(v->d, i)) != NULL; i++)
		ptc_say("%s", note);
}

/* Returns 0, or the exit code if the selected part has nothing to show. */
static int check_not_empty(const struct view *v)
{
	const struct ptc_asked_part part = { .tid = v->a->tids.n,
					     .cpu = v->a->cpus.n,
					     .time = v->a->has_time };

	if (v->calls.ncalls)
		return 0;
	if (ptc_asked_any(&part))
		return ptc_asked_say_none(&part, v->d, v->a->input);
	ptc_say("'%s' has no calls", v->a->input);
	return PTC_EXIT_NOTHING;
}

static int write_page(struct view *v, int fd, const char *name)
{
	const struct ptc_call_collector_opts opts = {
		.d = v->d,
		.inlines = v->a->inlines,
		.sources = v->a->sources,
		.times = !ptc_decode_is_of_software(v->d),
		.limits = { v->a->max_calls, FUNCTIONS_MAX, TEXT_MAX, v->a->branches, 0 },
		.on_chunk = put_calls,
		.ctx = v,
	};
	int code;

	if (ptc_call_collector_init(&v->calls, &opts))
		return ptc_say_no_memory();
	if (ptc_page_begin(&v->page, fd, name, &v->err))
		return ptc_say_err(&v->err);
	code = collect_calls(v);
	if (!code)
		code = check_not_empty(v);
	if (!code)
		code = write_branches(v);
	if (!code)
		code = write_meta(v);
	if (!code && ptc_page_end(&v->page, &v->err))
		code = ptc_say_err(&v->err);
	return code;
}

/* Write the page to the output, which appears only when the page is complete. */
static int write_output(struct view *v)
{
	struct ptc_tmpfile t = PTC_TMPFILE_INIT;
	int code;

	if (!strcmp(v->a->output, "-"))
		return write_page(v, STDOUT_FILENO, "standard output");
	if (ptc_tmpfile_open(&t, v->a->output, &v->err))
		return ptc_say_err(&v->err);
	code = write_page(v, t.fd, v->a->output);
	if (!code && ptc_tmpfile_commit(&t, &v->err))
		code = ptc_say_err(&v->err);
	ptc_tmpfile_release(&t);
	return code;
}

/* Releases all that is only needed to decode. */
static void drop_decoder(struct view *v)
{
	ptc_call_collector_release(&v->calls);
	ptc_screen_release(&v->crash.screen);
	ptc_decode_free(v->d);
	v->calls = (struct ptc_call_collector){ .ncalls = 0 };
	v->crash = (struct ptc_crash_lines){ .tid = 0 };
	v->d = NULL;
}

/* Decode into the temporary file. Returns 0 or an exit code. */
static int store_calls(struct view *v)
{
	const struct ptc_call_collector_opts opts = {
		.d = v->d,
		.inlines = v->a->inlines,
		.sources = v->a->sources,
		.times = !ptc_decode_is_of_software(v->d),
		.limits = { v->a->max_calls, FUNCTIONS_MAX, TEXT_MAX, v->a->branches, EDGES_MAX },
		.taker = &v->served.taker,
	};
	int code;

	if (ptc_served_recording_init(&v->served, opts.times, TEMPORARY_MAX, &v->err))
		return ptc_say_err(&v->err);
	if (ptc_call_collector_init(&v->calls, &opts))
		return ptc_say_no_memory();
	code = collect_calls(v);
	if (!code)
		code = check_not_empty(v);
	if (!code && ptc_served_recording_finish(&v->served, &v->err))
		code = ptc_say_err(&v->err);
	return code;
}

static int serve_page(struct view *v)
{
	struct ptc_buf meta = PTC_BUF_INIT;
	uint32_t nfunctions;
	int code = store_calls(v);

	if (!code)
		code = put_meta(v, &meta);
	nfunctions = (uint32_t)v->calls.nsums;
	if (!code) {
		tell_view(v);
		drop_decoder(v);
		code = ptc_serve(&v->http, &v->served, &meta, nfunctions);
	}
	ptc_buf_release(&meta);
	ptc_served_recording_release(&v->served);
	return code;
}

/* A crash that cannot be explained is reported, and the page is written without it. */
static void explain_crash(struct view *v)
{
	struct ptc_err err;

	if (ptc_crash_lines_read(&v->crash, v->a->input, &v->a->code, v->a->opts.mangled, &err))
		ptc_say("the page does not explain the crash: %s", err.msg);
}

static int show_recording(struct view *v)
{
	int code;

	explain_crash(v);
	code = v->a->serves ? serve_page(v) : write_output(v);
	if (!code && !v->a->serves)
		tell_view(v);
	ptc_buf_release(&v->page.text);
	drop_decoder(v);
	return code;
}

static int view_recording(struct ptc_view_args *a)
{
	struct ptc_chosen chosen = { .opts = &a->opts, .time = a->has_time ? &a->time : NULL };
	struct view v = { .a = a, .http.fd = -1 };
	int code = ptc_choose_code(a->debuginfod, &a->code);

	if (!code && a->serves && ptc_http_listen(&v.http, a->port, &v.err))
		code = ptc_say_err(&v.err);
	if (!code)
		code = ptc_sandbox_enter_with_copy(&a->sandbox, &a->input);
	chosen.input = a->input;
	if (!code)
		code = ptc_open_chosen(NULL, &chosen, &v.d);
	if (!code)
		code = show_recording(&v);
	ptc_http_server_release(&v.http);
	return code;
}

int ptc_cmd_view(int argc, char **argv)
{
	struct ptc_view_args a;
	int code = ptc_view_args_parse(&a, argc, argv);

	if (code < 0)
		code = view_recording(&a);
	ptc_view_args_release(&a);
	return code;
}
