/* SPDX-License-Identifier: MIT */
/* The options of `ptcap report`. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/common/option_table.h"
#include "cli/report/report.h"

enum { MAX_JOBS = 4096, SLOWEST = 10, MAX_SLOWEST = 1000000 };

static bool take_sort(const char *s, void *ret)
{
	static const char *const names[PTC_SORT_KEYS] = {
		[PTC_SORT_SELF] = "self", [PTC_SORT_TOTAL] = "total", [PTC_SORT_CALLS] = "calls",
		[PTC_SORT_MEAN] = "mean", [PTC_SORT_MAX] = "max",     [PTC_SORT_NAME] = "name",
	};
	int i;

	for (i = 0; i < PTC_SORT_KEYS; i++) {
		if (strcmp(s, names[i]) != 0)
			continue;
		*(enum ptc_report_sort *)ret = (enum ptc_report_sort)i;
		return true;
	}
	return false;
}

static bool take_by(const char *s, void *ret)
{
	int i;

	for (i = 0; i < PTC_BY_COUNT && strcmp(s, ptc_report_by_names[i]) != 0; i++)
		;
	*(enum ptc_report_by *)ret = (enum ptc_report_by)i;
	return i < PTC_BY_COUNT;
}

static bool take_format(const char *s, void *ret)
{
	static const char *const names[] = {
		[PTC_REPORT_TEXT] = "text", [PTC_REPORT_JSON] = "json", [PTC_REPORT_CSV] = "csv"
	};
	int i;

	for (i = PTC_REPORT_TEXT; i <= PTC_REPORT_CSV; i++) {
		if (strcmp(s, names[i]) != 0)
			continue;
		*(enum ptc_report_format *)ret = (enum ptc_report_format)i;
		return true;
	}
	return false;
}

/* Parse a number of rows, or "all". */
static bool take_top(const char *s, void *ret)
{
	uint64_t *n = ret;

	*n = 0;
	return !strcmp(s, "all") || (ptc_parse_u64(s, n) && *n);
}

static int take_slowest(void *args, const char *value)
{
	struct ptc_report_args *a = args;

	a->slowest = SLOWEST;
	if (!value ||
	    (ptc_parse_u64(value, &a->slowest) && a->slowest && a->slowest <= MAX_SLOWEST))
		return -1;
	return ptc_value_error("report", "--slowest", value, "a number of calls from 1 to %d",
			       MAX_SLOWEST);
}

static bool take_threads(const char *s, void *ret)
{
	uint64_t n;

	if (!ptc_parse_u64(s, &n) || !n || n > MAX_JOBS)
		return false;
	*(unsigned int *)ret = (unsigned int)n;
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to print:"),
	{ "sort", 0, "KEY", "Sort by self (default), total, calls, mean, max or name.",
	  PTC_PARSED(struct ptc_report_args, sort, take_sort,
		     "self, total, calls, mean, max or name") },
	{ "top", 0, "N", "Print only the first N functions. Default: all.",
	  PTC_PARSED(struct ptc_report_args, top, take_top, "a number of functions, or all") },
	{ "by", 0, "GROUP",
	  "Print a table for each thread, process or file. Default: function, one table.",
	  PTC_PARSED(struct ptc_report_args, by, take_by, "function, thread, process or file") },
	{ "function", 0, "NAME",
	  "Print only this function, with its callers and the functions that it calls. Default: "
	  "all functions.",
	  PTC_TEXT(struct ptc_report_args, function) },
	{ "slowest", 0, "[N]",
	  "With --function: also print its N slowest calls (default: 10), with thread, place and "
	  "caller.",
	  .take = take_slowest },
	{ "axis", 0, "AXIS",
	  "Measure in time or in instructions (insns). Default: insns for recordings by step or "
	  "emu, else time.",
	  PTC_PARSED(struct ptc_report_args, axis, ptc_take_axis, "time or insns") },
	{ "inline", 0, NULL,
	  "Also show inlined functions that make calls. Default: only real functions.",
	  PTC_FLAG(struct ptc_report_args, inlines) },
	{ "format", 0, "FORMAT",
	  "Print text (default), json (an object a line, see doc/json.md) or csv (a table for "
	  "spreadsheets).",
	  PTC_PARSED(struct ptc_report_args, format, take_format, "text, json or csv") },
	PTC_HEADING("Which part of the recording (default: all):"),
	PTC_OPTION_INPUT(struct ptc_report_args, input),
	{ "tid", 0, "LIST", "Only these threads, for example 12,15-17.",
	  PTC_PARSED(struct ptc_report_args, tids, ptc_take_ids,
		     "thread IDs, for example 12,14-16") },
	{ "cpu", 0, "LIST", "Only these CPUs, for example 0,2-4.",
	  PTC_PARSED(struct ptc_report_args, cpus, ptc_take_ids,
		     "CPU numbers, for example 0,2-4") },
	{ "time", 0, "FROM,TO",
	  "Only branches from FROM up to TO, in seconds. Omit either, or give a part of the "
	  "trace: 10%-20%.",
	  PTC_TEXT(struct ptc_report_args, time_text) },
	{ "shard", 0, "I/N",
	  "Write part I of N for `ptcap sum`, which prints the report from all parts: with N "
	  "processes, one for each part.",
	  PTC_PARSED(struct ptc_report_args, shard, ptc_take_shard,
		     "the number of a part, and of all parts, for example 1/8") },
	PTC_HEADING("Where to find the code:"),
	PTC_OPTIONS_CODE(struct ptc_report_args, code.symfs, debuginfod, code.core),
	PTC_OPTIONS_KERNEL_CODE(struct ptc_report_args, code.kcore, code.vmlinux),
	PTC_HEADING("Terminal:"),
	PTC_OPTION_NO_DEMANGLE(struct ptc_report_args, opts.mangled),
	{ "full-names", 0, NULL,
	  "Print names as long as they are. Default: shorten names to the width of the terminal, "
	  "or to 80 columns.",
	  PTC_FLAG(struct ptc_report_args, full_names) },
	PTC_OPTION_NO_PAGER(struct ptc_report_args, no_pager),
	PTC_HEADING("Speed and limits:"),
	{ "jobs", 'j', "N",
	  "Decode with N threads (default: one for each CPU, up to 16). The output is the same.",
	  PTC_PARSED(struct ptc_report_args, opts.jobs, take_threads,
		     "a number of threads from 1 to 4096") },
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct ptc_report_args, sandbox.off),
	PTC_HEADING("Raw packets instead of a recording:"),
	{ "pt", 0, "FILE", "Read this raw stream of packets. Default: read a recording.",
	  PTC_TEXT(struct ptc_report_args, pt) },
	{ "raw", 0, "FILE@ADDR[:OFFSET[:LENGTH]]",
	  "Use these bytes of FILE as the code at ADDR. May be given again.",
	  PTC_PARSED(struct ptc_report_args, raw, ptc_take_raw, PTC_ARGS_RAW) },
	PTC_HEADING("Exit status:"),
	PTC_OPTION_STRICT(struct ptc_report_args, strict),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "report",
	.usage = "usage: ptcap report [OPTIONS] [FILE]\n"
		 "Sum the calls of a recording by function: calls, own and total instructions or\n"
		 "time, and the mean, 99th percentile and maximum of a call.\n",
	.options = options,
};

/* Check the options of raw packets. Returns -1 to continue, or an exit code. */
static int check_raw_args(const struct ptc_report_args *a)
{
	if (a->pt && a->input)
		return ptc_usage_error("report", "a recording ('%s') cannot be combined with --pt",
				       a->input);
	if (a->raw.n && !a->pt)
		return ptc_usage_error("report", "--raw needs --pt");
	if (a->pt && (a->tids.n || a->cpus.n || a->time_text))
		return ptc_usage_error("report",
				       "--pt cannot be combined with --tid, --cpu or --time: a raw "
				       "trace has no threads and no clock");
	if (a->pt && (a->code.symfs || a->code.core || a->code.kcore || a->code.vmlinux))
		return ptc_usage_error("report", "--pt cannot be combined with --symfs, --core, "
						 "--kcore or --vmlinux; --raw names the code");
	return -1;
}

/* Check --shard. Returns -1 to continue, or an exit code. */
static int check_report_shard(struct ptc_report_args *a)
{
	if (!a->shard.n)
		return -1;
	if (a->time_text)
		return ptc_usage_error("report", "--shard cannot be combined with --time");
	if (a->by || a->function || a->inlines)
		return ptc_usage_error("report", "--shard cannot be combined with --by, --function "
						 "or --inline; `ptcap sum` prints reports by "
						 "function");
	a->opts.before = true;
	return -1;
}

static int check_report_args(struct ptc_report_args *a)
{
	if (a->time_text && !ptc_time_choice_parse(a->time_text, &a->time))
		return ptc_value_error("report", "--time", a->time_text,
				       "FROM,TO in seconds, or N%%-M%%");
	if (a->slowest && !a->function)
		return ptc_usage_error("report", "--slowest needs --function");
	if (a->function && a->by)
		return ptc_usage_error("report", "--function cannot be combined with --by");
	if (a->code.kcore && a->code.vmlinux)
		return ptc_usage_error("report", "--kcore cannot be combined with --vmlinux");
	a->opts.tids = (struct ptc_ids){ a->tids.ranges, a->tids.n };
	a->opts.cpus = (struct ptc_ids){ a->cpus.ranges, a->cpus.n };
	if (check_report_shard(a) >= 0)
		return PTC_EXIT_USAGE;
	return check_raw_args(a);
}

int ptc_report_args_parse(struct ptc_report_args *a, int argc, char **argv)
{
	int code;

	*a = (struct ptc_report_args){ .opts = PTC_DECODE_OPTS_INIT, .code = PTC_CODE_OPTS_INIT };
	a->opts.code = &a->code;
	a->opts.jobs = ptc_default_jobs();
	a->opts.lengths = true;
	a->opts.icount = true;
	code = ptc_options_parse(&option_table, argc, argv, a);
	if (code >= 0)
		return code;
	if (ptc_take_input("report", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	return check_report_args(a);
}

void ptc_report_args_release(struct ptc_report_args *a)
{
	ptc_id_list_release(&a->tids);
	ptc_id_list_release(&a->cpus);
	ptc_raw_list_release(&a->raw);
}
