/* SPDX-License-Identifier: MIT */
#include "cli/record/record_options.h"

#include "cli/common/args.h"
#include "cli/common/cli.h"
#include "cli/record/lbr_args.h"
#include "cli/record/record_args.h"
#include "ptcap/branchsel.h"

enum { AUX_SAMPLE_DEFAULT = 4096 };

#define LBR_DEFAULT "any,u"

static bool take_psb_period(const char *s, void *ret)
{
	uint64_t v;

	if (!ptc_parse_size(s, &v) || v < 2048 || v > 2048u << 15 || v & (v - 1))
		return false;
	*(uint32_t *)ret = (uint32_t)v;
	return true;
}

/* Parses a number from 1 to @max. */
static bool parse_number(const char *s, uint64_t max, unsigned int *ret)
{
	uint64_t v;

	if (!ptc_parse_u64(s, &v) || !v || v > max)
		return false;
	*ret = (unsigned int)v;
	return true;
}

static bool take_priority(const char *s, void *ret)
{
	return parse_number(s, 99, ret);
}

static bool take_code_size(const char *s, void *ret)
{
	return ptc_parse_size(s, ret) && *(uint64_t *)ret;
}

static int take_vcpus(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return parse_number(value, PTC_VCPUS_MAX, &a->opts.source.vcpus) ?
		       -1 :
		       ptc_value_error("record", "--vcpus", value, "a number of CPUs from 1 to %u",
				       PTC_VCPUS_MAX);
}

/* -z or -z3, as perf does. */
static int take_level(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	a->opts.output.compression = 1;
	return !value || parse_number(value, PTC_MAX_COMPRESSION, &a->opts.output.compression) ?
		       -1 :
		       ptc_value_error("record", "--compression-level", value,
				       "a level from 1 to %d", PTC_MAX_COMPRESSION);
}

static int take_pids(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return ptc_args_ids(value, a->pids, &a->opts.target.npids) ?
		       -1 :
		       ptc_value_error("record", "--pid", value, PTC_ARGS_PIDS);
}

static int take_tids(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return ptc_args_ids(value, a->tids, &a->opts.target.ntids) ?
		       -1 :
		       ptc_value_error("record", "--tid", value, PTC_ARGS_TIDS);
}

static int take_event(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	if (a->opts.lbr.sampler)
		return ptc_usage_error("record", "more than two events (-e)");
	*(a->opts.source.event ? &a->opts.lbr.sampler : &a->opts.source.event) = value;
	return -1;
}

static int take_filter(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	if (a->nfilter_texts == PTC_MAX_FILTER_TEXTS)
		return ptc_usage_error("record", "more than %d --filter options",
				       PTC_MAX_FILTER_TEXTS);
	a->filter_texts[a->nfilter_texts++] = value;
	return -1;
}

static int take_snapshot(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	a->opts.snapshot.enabled = true;
	a->snapshot_text = value;
	return -1;
}

static int take_aux_sample(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	a->opts.lbr.aux_sample = AUX_SAMPLE_DEFAULT;
	a->sample_text = value;
	return -1;
}

static int take_lossless(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	(void)value;
	a->opts.rings.lossy = false;
	return -1;
}

static int take_lbr(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return ptc_branchsel_parse(value ? value : LBR_DEFAULT, &a->opts.lbr.branches) ?
		       -1 :
		       ptc_value_error("record", "--lbr", value,
				       "names of branch types, for example any_call,u");
}

static int take_lbr_size(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return parse_number(value, PTC_LBR_SIZE_MAX, &a->opts.lbr.size) ?
		       -1 :
		       ptc_value_error("record", "--lbr-size", value,
				       "a number of entries from 1 to %u", PTC_LBR_SIZE_MAX);
}

static bool take_lbr_spoil(const char *s, void *ret)
{
	return ptc_lbr_args_spoil(s, ret);
}

static int take_truth(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	a->truth_path = value;
	a->truth_hash = false;
	return -1;
}

static int take_truth_hash(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	a->truth_path = value;
	a->truth_hash = true;
	return -1;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to record:"),
	{ "pid", 'p', "PID[,PID...]",
	  "Record these running processes and all their threads until ^C. Without Intel PT: only "
	  "with --source=step or -e dummy:u.",
	  .take = take_pids },
	{ "tid", 't', "TID[,TID...]", "Record single threads of running processes until ^C.",
	  .take = take_tids },
	{ "all-cpus", 'a', NULL, "pt: Record all CPUs, until CMD ends or until ^C.",
	  PTC_FLAG(struct ptc_record_args, opts.target.all_cpus) },
	{ "cpu", 'C', "LIST", "pt: Record only these CPUs, for example 0-3,8.",
	  PTC_TEXT(struct ptc_record_args, opts.target.cpus) },
	{ "cgroup", 'G', "CGROUP", "pt: Record only the processes of one cgroup.",
	  PTC_TEXT(struct ptc_record_args, opts.target.cgroup) },
	{ "event", 'e', "EVENT",
	  "pt: Record this event, in perf's notation (default: intel_pt//u). Examples: "
	  "intel_pt/cyc,psb_period=3/u, another PMU with a trace, or dummy:u for no trace.",
	  .take = take_event },
	{ "filter", 0, "FILTER",
	  "pt: Trace only some addresses, in perf's notation: filter|start|stop|tracestop START "
	  "[/ SIZE] [@ FILE]. Default: trace all addresses.",
	  .take = take_filter },
	{ "from", 0, "PLACE",
	  "step: Run CMD at full speed until a thread reaches PLACE, and record from there "
	  "(default: from the start). PLACE is SYMBOL or 0xADDR, then +OFFSET, then @FILE "
	  "(default: the file of CMD).",
	  PTC_TEXT(struct ptc_record_args, from_text) },
	{ "to", 0, "PLACE",
	  "step: Record until a thread reaches PLACE (default: until CMD ends). With --from: "
	  "start again each time that a thread reaches --from.",
	  PTC_TEXT(struct ptc_record_args, to_text) },
	{ "kcore", 0, NULL,
	  "pt: Trace the kernel too, and copy its code. The output is then a folder. Default: "
	  "user mode only.",
	  PTC_FLAG(struct ptc_record_args, opts.source.kcore) },
	PTC_HEADING("Source of the trace:"),
	{ "source", 0, "SOURCE",
	  "Choose the source (default: auto).\n"
	  "auto: pt if the machine has Intel PT, else emu if QEMU\n"
	  "      is installed and can run CMD, else step.\n"
	  "pt:   Intel PT, through the kernel.\n"
	  "emu:  Run CMD in qemu-x86_64 with a plugin of ptcap.\n"
	  "step: Single-step CMD. Works on any x86-64 machine,\n"
	  "      thousands of times slower than native.",
	  PTC_PARSED(struct ptc_record_args, opts.source.kind, ptc_args_source, PTC_ARGS_SOURCES) },
	{ "vcpus", 0, "N",
	  "emu: Spread the threads over N virtual CPUs (1 to 64, default: 1). Each CPU has its own "
	  "ring buffers.",
	  .take = take_vcpus },
	{ "code-size", 0, "SIZE",
	  "emu: Keep the code of CMD in this much memory (default: 1G). The recording ends when it "
	  "is full.",
	  PTC_PARSED(struct ptc_record_args, opts.source.code_size, take_code_size,
		     "a size, for example 64M") },
	PTC_HEADING("Output:"),
	{ "output", 'o', "FILE",
	  "Write the recording to FILE (default: perf.data). An existing FILE becomes FILE.old.",
	  PTC_TEXT(struct ptc_record_args, opts.output.path) },
	{ "compression-level", 'z', "[LEVEL]",
	  "Compress sideband records with zstd, from 1 (fast) to 22 (small). Default: off; without "
	  "LEVEL: 1.",
	  .take = take_level },
	{ "buildid-cache", 0, NULL,
	  "Copy the recorded files to perf's cache (~/.debug), for `perf archive`. Default: off.",
	  PTC_FLAG(struct ptc_record_args, buildid_cache) },
	PTC_HEADING("Trace buffers:"),
	{ "mmap-pages", 'm', "DATA[,AUX]",
	  "Set the size of each ring buffer for sideband (DATA) and trace (AUX): a number of "
	  "pages, or bytes with a suffix B, K, M, G. Defaults: emu 1M,16M; step 256K,1M; pt "
	  "512K,4M as root, else 256K,128K.",
	  PTC_PARSED(struct ptc_record_args, opts.rings, ptc_args_mmap, PTC_ARGS_MMAP) },
	{ "snapshot", 'S', "[SIZE]",
	  "Overwrite old trace, and write the newest SIZE bytes at SIGUSR2 and at the end. "
	  "Default: keep all trace; without SIZE: the whole ring buffer.",
	  .take = take_snapshot },
	{ "aux-sample", 0, "[SIZE]",
	  "pt: Keep only the newest SIZE bytes of trace with each sample of a second -e EVENT. "
	  "Default: keep all trace; without SIZE: 4K; without a second -e: cpu-clock:u.",
	  .take = take_aux_sample },
	{ "lossless", 0, NULL, "emu: Let CMD wait when a ring buffer is full. This is the default.",
	  .take = take_lossless },
	{ "lossy", 0, NULL,
	  "emu: Lose trace when a ring buffer is full, as hardware does. Default: --lossless.",
	  PTC_FLAG(struct ptc_record_args, opts.rings.lossy) },
	{ "per-thread", 0, NULL,
	  "pt: Use a pair of ring buffers for each existing thread. Default: a pair for each CPU.",
	  PTC_FLAG(struct ptc_record_args, opts.target.per_thread) },
	{ "realtime", 'r', "PRIO",
	  "Read the ring buffers in a thread with this real-time priority, 1 to 99. Default: a "
	  "normal thread.",
	  PTC_PARSED(struct ptc_record_args, opts.rings.realtime, take_priority,
		     "a priority from 1 to 99") },
	{ "psb-period", 0, "SIZE",
	  "Set the bytes of trace between two sync points (PSB): 2K, 4K, ... 64M. Default: 2K, "
	  "with emu 16K.",
	  PTC_PARSED(struct ptc_record_args, opts.source.psb_period, take_psb_period,
		     "a power of two from 2K to 64M") },
	{ "no-retcomp", 0, NULL, "Write a packet for every return. Default: compressed returns.",
	  PTC_FLAG(struct ptc_record_args, opts.source.no_retcomp) },
	PTC_HEADING("Branch stacks:"),
	{ "lbr", 0, "[FILTER]",
	  "Also take samples with branch stacks (LBR). Default: none; without FILTER: any,u. "
	  "FILTER has words of perf's -j: any_call, any_ret, ind_call, ind_jmp, cond, call, stack "
	  "(calls that have not returned), save_type, hw_index, no_flags, no_cycles, priv, k, ...",
	  .take = take_lbr },
	{ "lbr-event", 0, "EVENT",
	  "Count this event for the samples. Default with pt: cycles:u. With step and emu: "
	  "branches (default) or instructions.",
	  PTC_TEXT(struct ptc_record_args, lbr_event) },
	{ "count", 'c', "N",
	  "Take a sample each N events (default: the event's own period; step and emu: 1000). -c "
	  "and -F need --lbr or --aux-sample.",
	  PTC_PARSED(struct ptc_record_args, opts.lbr.period, ptc_take_count,
		     "a number of events") },
	{ "freq", 'F', "N", "pt: Take N samples a second (default for CPU events: 4000).",
	  PTC_PARSED(struct ptc_record_args, opts.lbr.freq, ptc_take_count,
		     "a number of samples per second") },
	{ "lbr-size", 0, "N",
	  "step, emu: Give each branch stack N entries, 1 to 512 (default: 32).",
	  .take = take_lbr_size },
	PTC_HEADING("Limits:"),
	{ "max-time", 0, "TIME",
	  "Stop the recording after TIME: seconds, or with a suffix us, ms, s, m, h. Default: no "
	  "limit.",
	  PTC_PARSED(struct ptc_record_args, opts.range.max_ns, ptc_take_duration,
		     PTC_ARGS_DURATION) },
	{ "max-steps", 0, "N",
	  "step: Stop the recording after N instructions (suffixes k, M, G). Default: no limit.",
	  PTC_PARSED(struct ptc_record_args, opts.range.max_steps, ptc_take_count,
		     "a number of instructions, for example 10M") },
	{ "grace", 0, "TIME",
	  "Give CMD this time to end after a signal to ptcap (default: 1s). Then ptcap leaves CMD "
	  "running.",
	  PTC_PARSED(struct ptc_record_args, grace_ns, ptc_take_duration, PTC_ARGS_DURATION) },
	PTC_HEADING("Messages and exit status:"),
	{ "verbose", 'v', NULL,
	  "Print what could not be recorded, and an account of each ring buffer. Default: only "
	  "losses.",
	  PTC_FLAG(struct ptc_record_args, verbose) },
	{ "quiet", 'q', NULL,
	  "Print only errors and losses. Default: also the source and a summary.",
	  PTC_FLAG(struct ptc_record_args, quiet) },
	{ "progress", 0, NULL,
	  "Print instructions and bytes each second. Default: only if standard error is a "
	  "terminal.",
	  PTC_FLAG(struct ptc_record_args, progress) },
	{ "strict", 0, NULL,
	  "Exit with 3 if CMD exited with 0 but something was lost. Default: exit with the status "
	  "of CMD.",
	  PTC_FLAG(struct ptc_record_args, strict) },
	PTC_OPTION_ALL_RIGHTS(struct ptc_record_args, no_sandbox),
	PTC_OPTION_HELP,
	PTC_HEADING("For tests:"),
	{ "truth", 0, "FILE",
	  "step, emu: Write each branch that the source saw, as `ptcap decode -F "
	  "tid,from,to,kind` prints it.",
	  .take = take_truth },
	{ "truth-hash", 0, "FILE", "step, emu: Write a hash for each 65536 branches.",
	  .take = take_truth_hash },
	{ "lbr-spoil", 0, "MODE[:RATE[:SEED]]",
	  "step, emu: Inject an error into one of RATE branch stacks (default: 1): target, source, "
	  "drop, top, swap, shift[=K], stale, type or flag. Needs --truth.",
	  PTC_PARSED(struct ptc_record_args, opts.lbr.spoil, take_lbr_spoil,
		     "an error to inject; see ptcap-record(1)") },
	PTC_OPTIONS_END,
};

const struct ptc_option_table ptc_record_options = {
	.command = "record",
	.usage = "usage: ptcap record [OPTIONS] [--] CMD [ARG...]\n"
		 "       ptcap record [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
		 "       ptcap record [OPTIONS] -a | -C LIST | -G CGROUP [[--] CMD [ARG...]]\n"
		 "Run CMD and record every branch that it takes into a perf.data file.\n"
		 "`ptcap decode` and `perf script` read this file. Options come before CMD. Some\n"
		 "begin with the names of the sources that have them: pt, step, emu.\n",
	.options = options,
	.runs_command = true,
};
