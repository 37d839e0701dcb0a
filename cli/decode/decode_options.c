/* SPDX-License-Identifier: MIT */
#include "cli/decode/decode_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/decode/decode_args.h"

/* What these options expect. */
#define FORMATS                                                                                    \
	"text, json, bin, arrow, callgrind, folded, pprof, lcov, bolt, profgen, afdo, uftrace or " \
	"fxt"
#define FIELDS                                                                                     \
	"pid, tid, cpu, time, icount, from, to, kind, sym, tosym, insn, insn-ip, disasm or "       \
	"srcline"

/* Larger values are typing errors. */
enum { MAX_JOBS = 4096, MAX_SLICE = 1 << 30 };

static int take_fields(void *args, const char *value)
{
	struct ptc_decode_args *a = args;
	const char *what, *word;
	int len;

	what = ptc_fields_parse(value, &a->out.form.fields, &word, &len);
	return what ? ptc_usage_error("decode", "%s '%.*s'", what, len, word) : -1;
}

static int take_format(void *args, const char *value)
{
	static const char *const profiles[] = { [PTC_PROFILE_BOLT] = "bolt",
						[PTC_PROFILE_PROFGEN] = "profgen",
						[PTC_PROFILE_AFDO] = "afdo" };
	struct ptc_decode_args *a = args;
	int i;

	a->out.form.json = !strcmp(value, "json");
	a->out.form.bin = !strcmp(value, "bin");
	a->out.form.lcov = !strcmp(value, "lcov");
	a->out.call_profile.kind = ptc_call_profile_parse(value);
	a->out.form.uftrace = !strcmp(value, "uftrace");
	a->out.form.fxt = !strcmp(value, "fxt");
	a->out.form.arrow = !strcmp(value, "arrow");
	a->out.profile.kind = PTC_PROFILE_NONE;
	for (i = PTC_PROFILE_BOLT; i <= PTC_PROFILE_AFDO; i++)
		if (!strcmp(value, profiles[i]))
			a->out.profile.kind = (enum ptc_profile_kind)i;
	if (a->out.form.json || a->out.form.bin || a->out.form.lcov || a->out.profile.kind ||
	    a->out.call_profile.kind || a->out.form.uftrace || a->out.form.fxt ||
	    a->out.form.arrow || !strcmp(value, "text"))
		return -1;
	return ptc_value_error("decode", "--format", value, FORMATS);
}

/* Parse WHAT[:N]. */
static bool take_counts(const char *s, void *form)
{
	static const char *const names[] = { [PTC_COUNTS_EDGES] = "edges",
					     [PTC_COUNTS_CALLS] = "calls",
					     [PTC_COUNTS_BLOCKS] = "blocks",
					     [PTC_COUNTS_LINES] = "lines",
					     [PTC_COUNTS_COVERAGE] = "coverage" };
	struct ptc_decoded_form *f = form;
	const size_t len = strcspn(s, ":");
	bool good = !s[len];
	int i;

	f->counts = PTC_COUNTS_NOTHING;
	for (i = PTC_COUNTS_EDGES; i < PTC_COUNTS_ALL; i++)
		if (strlen(names[i]) == len && !strncmp(s, names[i], len))
			f->counts = (enum ptc_counts_of)i;
	f->most = 0;
	if (s[len])
		good = ptc_parse_u64(s + len + 1, &f->most) && f->most;
	return f->counts && good;
}

static int take_time(void *args, const char *value)
{
	struct ptc_decode_args *a = args;

	a->has_time = true;
	return ptc_time_choice_parse(value, &a->time) ?
		       -1 :
		       ptc_value_error("decode", "--time", value, "FROM,TO in seconds, or N%%-M%%");
}

/* Parse a number of instructions, or a duration. */
static bool take_min(const char *s, void *ret)
{
	struct ptc_calls_choice *c = ret;

	c->min_is_time = !ptc_parse_count(s, &c->min);
	return (!c->min_is_time || ptc_parse_duration(s, &c->min)) && c->min;
}

static bool take_last(const char *s, void *ret)
{
	return ptc_parse_u64(s, ret) && *(uint64_t *)ret;
}

static bool take_color(const char *s, void *ret)
{
	*(const char **)ret = s;
	return !strcmp(s, "auto") || !strcmp(s, "always") || !strcmp(s, "never");
}

/* Parse N[:BYTES]. */
static int take_jobs(void *args, const char *value)
{
	struct ptc_decode_args *a = args;
	char *copy = strdup(value), *s = copy;
	uint64_t n = 0, bytes = 1;
	const bool ok = copy && ptc_cut_number(&s, ':', &n) && n && n <= MAX_JOBS &&
			(!s || ptc_cut_number(&s, ':', &bytes)) && !s && bytes &&
			bytes <= MAX_SLICE;

	if (ok && strchr(value, ':'))
		a->opts.slice = (size_t)bytes;
	a->opts.jobs = (unsigned int)n;
	free(copy);
	return ok ? -1 :
		    ptc_value_error("decode", "--jobs", value, "a number of threads from 1 to %d",
				    MAX_JOBS);
}

static bool take_budget(const char *s, void *ret)
{
	return ptc_parse_size(s, ret) && *(uint64_t *)ret;
}

static bool take_tables(const char *s, void *ret)
{
	return ptc_arrow_parse_tables(s, ret);
}

static bool take_resync(const char *s, void *ret)
{
	if (strcmp(s, "psb") != 0 && strcmp(s, "packet") != 0)
		return false;
	*(enum ptc_resync *)ret = s[1] == 's' ? PTC_RESYNC_PSB : PTC_RESYNC_PACKET;
	return true;
}

static bool take_engine(const char *s, void *ret)
{
	static const char *const names[] = { [PTC_ENGINE_LIBIPT] = "libipt",
					     [PTC_ENGINE_FAST] = "fast",
					     [PTC_ENGINE_VERIFY] = "verify" };
	int i;

	for (i = PTC_ENGINE_LIBIPT; i <= PTC_ENGINE_VERIFY; i++) {
		if (!strcmp(s, names[i])) {
			*(enum ptc_engine_choice *)ret = (enum ptc_engine_choice)i;
			return true;
		}
	}
	return false;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to print (default: a line for each branch):"),
	{ "calls", 0, NULL,
	  "Print functions when a thread enters and leaves them, indented by depth.",
	  PTC_FLAG(struct ptc_decode_args, out.form.calls) },
	{ "depth", 0, "N",
	  "With --calls: print only the N outermost levels. Default: all. With --format folded "
	  "and pprof: limit each stack to its outermost N functions (default: 1000).",
	  PTC_PARSED(struct ptc_decode_args, out.form.choice.depth, ptc_take_count,
		     "a number of levels") },
	{ "min", 0, "DURATION",
	  "With --calls: print only calls that last at least so many instructions (1000), or so "
	  "long (10us). Default: all.",
	  PTC_PARSED(struct ptc_decode_args, out.form.choice, take_min,
		     "instructions, for example 1000, or a time, for example 10us") },
	{ "fold", 0, NULL,
	  "With --calls: print equal calls in a row as one, with their number and the sum of "
	  "their durations. Default: print each call.",
	  PTC_FLAG(struct ptc_decode_args, out.form.choice.folds) },
	{ "insn", 0, NULL, "Print every instruction, disassembled, with its source line.",
	  PTC_FLAG(struct ptc_decode_args, out.form.insn) },
	{ "inline", 0, NULL,
	  "Also show inlined functions: with --calls each one that makes calls, with --insn and in "
	  "srcline the lines of the inlined calls. Default: only real functions.",
	  PTC_FLAG(struct ptc_decode_args, out.form.inlines) },
	{ "stats", 0, NULL, "Print only totals: branches by kind, gaps by cause, bytes, time.",
	  PTC_FLAG(struct ptc_decode_args, out.form.stats) },
	{ "counts", 0, "WHAT[:N]",
	  "Print how often each place ran, the N most executed first (default: all). WHAT: edges "
	  "(branches), calls (between functions), blocks (of code), lines (of source), or "
	  "coverage (lines that did not run).",
	  PTC_PARSED(struct ptc_decode_args, out.form, take_counts,
		     "edges, calls, blocks, lines or coverage, and :N for the first N") },
	{ "events", 0, NULL,
	  "Also print other events of the trace: tracing on and off, overflows, frequency, "
	  "PTWRITE, power states, transactions.",
	  PTC_FLAG(struct ptc_decode_args, opts.events) },
	{ "fields", 'F', "LIST",
	  "Print these fields, for programs: pid tid cpu time icount from to kind sym tosym insn "
	  "insn-ip disasm srcline. insn-ip prints a line for each instruction.",
	  .take = take_fields, .expected = FIELDS },
	{ "format", 0, "FORMAT",
	  "Print text (default), json (an object a line, see doc/json.md) or bin (16 bytes a "
	  "branch, see doc/format.md). Or write tables: arrow (Arrow IPC, for DuckDB, pandas and "
	  "others). Or a profile for another tool: callgrind, folded, pprof, "
	  "lcov, bolt, profgen or afdo. Or all calls for another tool: uftrace, or fxt (Perfetto).",
	  .take = take_format, .expected = FORMATS },
	{ "icount", 0, NULL,
	  "With --format bin: also write the number of instructions of each branch.",
	  PTC_FLAG(struct ptc_decode_args, out.form.icount) },
	{ "output", 'o', "NAME",
	  "With uftrace and arrow: write this folder. With fxt: write this file. Default: standard "
	  "output for fxt, and for one table of arrow. An existing NAME becomes NAME.old.",
	  PTC_TEXT(struct ptc_decode_args, out.form.output) },
	{ "tables", 0, "LIST",
	  "With arrow: write these tables: branches, calls, gaps, crashes (default: all; to "
	  "standard "
	  "output: branches).",
	  PTC_PARSED(struct ptc_decode_args, out.form.tables, take_tables,
		     "branches, calls, gaps or crashes, separated by commas") },
	{ "budget", 0, "SIZE",
	  "With fxt: write at most this much (default: 100M). Calls that are too short for it are "
	  "merged into their callers.",
	  PTC_PARSED(struct ptc_decode_args, out.form.budget, take_budget,
		     "a size: a number with K, M or G") },
	{ "axis", 0, "AXIS",
	  "Begin lines with the time, or with the number of instructions of the thread (insns), "
	  "and "
	  "measure calls in it. Default: insns for recordings by step or emu, else time; with "
	  "folded: insns.",
	  PTC_PARSED(struct ptc_decode_args, out.form.axis, ptc_take_axis, "time or insns") },
	{ "object", 0, "FILE",
	  "With bolt, profgen and afdo: the program or library of the profile.",
	  PTC_TEXT(struct ptc_decode_args, out.profile.object) },
	PTC_HEADING("Which part of the recording (default: all):"),
	PTC_OPTION_INPUT(struct ptc_decode_args, input),
	{ "tid", 0, "LIST", "Print only these threads, for example 12,15-17.",
	  PTC_PARSED(struct ptc_decode_args, tids, ptc_take_ids,
		     "thread IDs, for example 12,14-16") },
	{ "cpu", 0, "LIST",
	  "Print only these CPUs. With --pt: the CPU that recorded, for example 6/94/3.",
	  PTC_TEXT(struct ptc_decode_args, cpu) },
	{ "time", 0, "FROM,TO",
	  "Print only branches from FROM up to TO, in seconds. Omit either, or give a part of the "
	  "trace: 10%-20%.",
	  .take = take_time },
	{ "shard", 0, "I/N",
	  "Print part I of N: with N processes, one for each part, in any order. The outputs of "
	  "parts 1 to N in order are the whole output.",
	  PTC_PARSED(struct ptc_decode_args, shard, ptc_take_shard,
		     "the number of a part, and of all parts, for example 1/8") },
	{ "last", 0, "N", "Print only the last N branches of each thread.",
	  PTC_PARSED(struct ptc_decode_args, opts.last, take_last, "a number of branches") },
	{ "sym", 0, "NAME",
	  "Print only branches from or to this function. With --calls: the function and all calls "
	  "in it.",
	  PTC_TEXT(struct ptc_decode_args, opts.sym) },
	PTC_HEADING("Where to find the code:"),
	PTC_OPTIONS_CODE(struct ptc_decode_args, code.symfs, debuginfod, code.core),
	PTC_OPTIONS_KERNEL_CODE(struct ptc_decode_args, code.kcore, code.vmlinux),
	PTC_HEADING("Terminal:"),
	PTC_OPTION_NO_DEMANGLE(struct ptc_decode_args, opts.mangled),
	{ "color", 0, "WHEN", "Use colours: auto (on a terminal, default), always or never.",
	  PTC_PARSED(struct ptc_decode_args, color, take_color, "auto, always or never") },
	{ "full-names", 0, NULL,
	  "Print names as long as they are. Default: on a terminal shorten names to its width, "
	  "except with -F and json.",
	  PTC_FLAG(struct ptc_decode_args, full_names) },
	PTC_OPTION_NO_PAGER(struct ptc_decode_args, no_pager),
	PTC_HEADING("Speed and limits:"),
	{ "jobs", 'j', "N",
	  "Decode with N threads (default: one for each CPU, up to 16). The output is the same.",
	  .take = take_jobs },
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct ptc_decode_args, sandbox.off),
	PTC_HEADING("Decoder:"),
	{ "resync", 0, "HOW",
	  "Continue after an error at the next psb, or at the next packet with a full IP (default: "
	  "packet; with --pt: psb).",
	  PTC_PARSED(struct ptc_decode_args, opts.resync, take_resync, "psb or packet") },
	{ "engine", 0, "ENGINE",
	  "Choose the engine: fast (default; libipt decodes the rest), libipt, or verify (compare "
	  "both).",
	  PTC_PARSED(struct ptc_decode_args, opts.engine, take_engine, "libipt, fast or verify") },
	PTC_HEADING("Raw packets instead of a recording:"),
	{ "pt", 0, "FILE", "Decode this raw stream of packets. Default: decode a recording.",
	  PTC_TEXT(struct ptc_decode_args, pt) },
	{ "raw", 0, "FILE@ADDR[:OFFSET[:LENGTH]]",
	  "Use these bytes of FILE as the code at ADDR. May be given again.",
	  PTC_PARSED(struct ptc_decode_args, raw, ptc_take_raw, PTC_ARGS_RAW) },
	PTC_HEADING("Exit status:"),
	PTC_OPTION_STRICT(struct ptc_decode_args, strict),
	PTC_OPTION_HELP,
	PTC_HEADING("For tests:"),
	{ "jobs", 'j', "N:BYTES", "Give each thread about BYTES of trace at a time.",
	  .does = PTC_SHOWN },
	PTC_OPTIONS_END,
};

const struct ptc_option_table ptc_decode_options = {
	.command = "decode",
	.usage = "usage: ptcap decode [OPTIONS] [FILE]\n"
		 "       ptcap decode --pt=FILE --raw=FILE@ADDR[:OFFSET[:LENGTH]]... [OPTIONS]\n"
		 "Decode a recording: print every branch that was taken, and every gap.\n",
	.options = options,
};
