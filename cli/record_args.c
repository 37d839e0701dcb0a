/* SPDX-License-Identifier: MIT */
#include "record_args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "auxtrace/branchsel.h"
#include "cli.h"
#include "lbr_args.h"
#include "place.h"

enum { AUX_SAMPLE_DEFAULT = 4096 };

#define LBR_DEFAULT "any,u"

static const char help[] =
	"usage: ptcap record [OPTIONS] [--] CMD [ARG...]\n"
	"       ptcap record [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
	"       ptcap record [OPTIONS] -a | -C LIST | -G CGROUP [[--] CMD [ARG...]]\n"
	"Run CMD and record its control flow into a perf.data, which ptcap decode and\n"
	"perf script read.\n\n"
	"  -o, --output FILE     the recording (default perf.data); an older one becomes FILE.old\n"
	"      --source SOURCE   auto: Intel PT if the machine has it, else emu if QEMU is there "
	"and\n"
	"                        can take CMD, else step (default)\n"
	"                        pt: Intel PT, through the kernel\n"
	"                        step: a software PMU that single-steps CMD (works anywhere, "
	"slow)\n"
	"                        emu: CMD runs in qemu-x86_64, with a plugin of ours (fast)\n"
	"  -p, --pid PID[,PID...]\n"
	"                        processes that run already, every thread of them, until ^C; they "
	"are\n"
	"                        stepped only if --source step asks for it\n"
	"  -t, --tid TID[,TID...]\n"
	"                        the same for single threads\n"
	"  -a, --all-cpus        pt: whatever runs on any CPU, until CMD ends, or ^C\n"
	"  -C, --cpu LIST        pt: the same on some CPUs: 0-3,8\n"
	"  -G, --cgroup CGROUP   pt: the same of one cgroup\n"
	"      --per-thread      pt: a ring pair for each thread there is, instead of for each "
	"CPU\n"
	"  -e, --event EVENT     pt: as perf names it (default intel_pt//u): "
	"intel_pt/cyc,psb_period=3/u,\n"
	"                        another PMU that traces, or dummy:u for side records only\n"
	"      --filter FILTER   pt: trace by address: filter|start|stop|tracestop START [/ SIZE] "
	"[@ FILE]\n"
	"  -m, --mmap-pages DATA[,AUX]\n"
	"                        sizes of the rings: pages, or bytes with a suffix B, K, M, G\n"
	"  -S, --snapshot[=SIZE] the trace goes round in its ring; SIGUSR2 to ptcap "
	"writes "
	"what "
	"is\n"
	"                        there to FILE, or SIZE bytes of it, and so does the end\n"
	"      --aux-sample[=SIZE]\n"
	"                        pt: instead of all the trace, its newest SIZE bytes (4K) with "
	"each "
	"sample of\n"
	"                        a second -e EVENT (default cpu-clock:u)\n";

/* ISO C guarantees only a limited string length, so the help is split. */
static const char help_too[] =
	"      --lbr[=FILTER]    samples with branch stacks (LBR), too, of what perf's -j names: "
	"any,u\n"
	"                        (default), any_call, any_ret, ind_call, ind_jmp, cond, call, "
	"stack (live\n"
	"                        calls), save_type, hw_index, no_flags, no_cycles, priv, k, ...\n"
	"      --lbr-event EVENT what counts for them: pt: cycles:u (default), or any that can; "
	"step, emu:\n"
	"                        branches (default) or instructions\n"
	"      --lbr-size N      step, emu: entries of a stack (default 32, at most 512)\n"
	"      --lbr-spoil MODE[:RATE[:SEED]]\n"
	"                        step, emu, for tests: one of RATE stacks (1) is wrong, which "
	"--truth\n"
	"                        notes: target, source, drop, top, swap, shift[=K], stale, type, "
	"flag\n"
	"  -c, --count N         how much the event that samples counts from one sample to the "
	"next\n"
	"                        (step, emu: 1000)\n"
	"  -F, --freq N          pt: samples a second instead\n"
	"  -z, --compression-level[=LEVEL]\n"
	"                        compress side records, as perf record does: 1, fast (default), to "
	"22\n"
	"      --lossless        emu: CMD waits when the rings are full (default)\n"
	"      --lossy           emu: what does not fit the rings is lost, as with hardware\n"
	"      --vcpus N         emu: so many CPUs, with a ring pair each, share the threads (1 to "
	"64)\n"
	"      --code-size SIZE  emu: memory for CMD's code (default 1G); when it is full the "
	"recording\n"
	"                        ends\n"
	"      --kcore           pt: trace the kernel, too, and keep its code: FILE is a folder "
	"then\n"
	"  -r, --realtime PRIO   drain the rings in a thread with this real-time priority, 1 to "
	"99\n"
	"      --no-retcomp      a packet for every return (RET compression off)\n"
	"      --psb-period SIZE bytes of trace between two sync points: 2K, 4K, ... 64M (default "
	"2K,\n"
	"                        emu 16K)\n"
	"      --max-steps N     record so many instructions (suffixes k, M, G), then let CMD run "
	"on\n"
	"      --max-time TIME   record so long: seconds, or with a suffix us, ms, s, m, h\n"
	"      --grace TIME      a signal to ptcap gives CMD so long to end (default 1s), then CMD "
	"is "
	"left\n"
	"      --from PLACE      run at full speed to PLACE and record from there: SYMBOL or "
	"0xADDR,\n"
	"                        then +OFFSET, then @FILE (default: CMD's own)\n"
	"      --to PLACE        record up to PLACE; with --from as often as control comes by,\n"
	"                        without it once\n"
	"      --truth FILE      what a software source saw, as `decode -F tid,from,to,kind` "
	"prints "
	"it\n"
	"      --truth-hash FILE the same as hashes, one each 65536 transfers of a thread\n"
	"      --strict          exit 3 if CMD succeeded but anything was lost\n"
	"      --progress        steps and bytes each second, if stderr is no terminal, too\n"
	"  -v, --verbose         what was left out of the recording, and why; what the events say\n"
	"  -q, --quiet           no summary, no progress\n"
	"      --no-sandbox      keep all capabilities, not only those that a recording needs\n"
	"                        (SECURITY.md)\n"
	"  -h, --help            this text\n";

static bool parse_psb(const char *s, uint32_t *ret)
{
	uint64_t v;

	if (!ptc_parse_size(s, &v) || v < 2048 || v > 2048u << 15 || v & (v - 1))
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool parse_vcpus(const char *s, unsigned int *ret)
{
	uint64_t v;

	if (!ptc_parse_u64(s, &v) || !v || v > PTC_VCPUS_MAX)
		return false;
	*ret = (unsigned int)v;
	return true;
}

static bool parse_priority(const char *s, unsigned int *ret)
{
	uint64_t v;

	if (!ptc_parse_u64(s, &v) || v < 1 || v > 99)
		return false;
	*ret = (unsigned int)v;
	return true;
}

/* Parse -z or -z3, as perf does. */
static bool parse_level(const char *s, unsigned int *ret)
{
	uint64_t v = 1;

	if (s && (!ptc_parse_u64(s, &v) || !v || v > PTC_MAX_COMPRESSION))
		return false;
	*ret = (unsigned int)v;
	return true;
}

static bool parse_lbr_size(const char *s, uint32_t *ret)
{
	uint64_t v;

	if (!ptc_parse_u64(s, &v) || !v || v > PTC_LBR_SIZE_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* Check the options that require --lbr. Returns -1 to continue, or an exit code. */
static int check_lbr(struct ptc_record_args *a, const char *event)
{
	struct ptc_record_opts *o = &a->opts;
	const bool lbr = o->branch_sample_type;

	if ((event || o->lbr_size || o->lbr_spoil.mode != PTC_SPOIL_NONE) && !lbr)
		return ptc_usage_error("record", "--lbr-event, --lbr-size and --lbr-spoil need "
						 "--lbr");
	if ((o->sample_period || o->sample_freq) && !o->aux_sample && !lbr)
		return ptc_usage_error("record", "--count and --freq need --lbr or --aux-sample");
	if (o->sample_period && o->sample_freq)
		return ptc_usage_error("record", "--count and --freq cannot be combined");
	if (event && o->sampler)
		return ptc_usage_error("record", "two sampling events: a second -e, and "
						 "--lbr-event; give one of them");
	if (event)
		o->sampler = event;
	if (o->lbr_spoil.mode != PTC_SPOIL_NONE && !a->truth_path)
		return ptc_usage_error("record", "--lbr-spoil needs --truth");
	return -1;
}

int ptc_record_args_parse(int argc, char **argv, struct ptc_record_args *a)
{
	enum {
		OPT_SOURCE = 256,
		OPT_LOSSLESS,
		OPT_LOSSY,
		OPT_VCPUS,
		OPT_CODE_SIZE,
		OPT_NO_RETCOMP,
		OPT_PSB,
		OPT_TRUTH,
		OPT_TRUTH_HASH,
		OPT_STRICT,
		OPT_MAX_STEPS,
		OPT_MAX_TIME,
		OPT_GRACE,
		OPT_PROGRESS,
		OPT_FROM,
		OPT_TO,
		OPT_PER_THREAD,
		OPT_FILTER,
		OPT_AUX_SAMPLE,
		OPT_KCORE,
		OPT_LBR,
		OPT_LBR_EVENT,
		OPT_LBR_SIZE,
		OPT_LBR_SPOIL,
		OPT_NO_SANDBOX
	};
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "source", required_argument, NULL, OPT_SOURCE },
		{ "event", required_argument, NULL, 'e' },
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "cgroup", required_argument, NULL, 'G' },
		{ "filter", required_argument, NULL, OPT_FILTER },
		{ "per-thread", no_argument, NULL, OPT_PER_THREAD },
		{ "verbose", no_argument, NULL, 'v' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "mmap-pages", required_argument, NULL, 'm' },
		{ "snapshot", optional_argument, NULL, 'S' },
		{ "aux-sample", optional_argument, NULL, OPT_AUX_SAMPLE },
		{ "count", required_argument, NULL, 'c' },
		{ "freq", required_argument, NULL, 'F' },
		{ "lbr", optional_argument, NULL, OPT_LBR },
		{ "lbr-event", required_argument, NULL, OPT_LBR_EVENT },
		{ "lbr-size", required_argument, NULL, OPT_LBR_SIZE },
		{ "lbr-spoil", required_argument, NULL, OPT_LBR_SPOIL },
		{ "compression-level", optional_argument, NULL, 'z' },
		{ "kcore", no_argument, NULL, OPT_KCORE },
		{ "realtime", required_argument, NULL, 'r' },
		{ "lossless", no_argument, NULL, OPT_LOSSLESS },
		{ "lossy", no_argument, NULL, OPT_LOSSY },
		{ "vcpus", required_argument, NULL, OPT_VCPUS },
		{ "code-size", required_argument, NULL, OPT_CODE_SIZE },
		{ "no-retcomp", no_argument, NULL, OPT_NO_RETCOMP },
		{ "psb-period", required_argument, NULL, OPT_PSB },
		{ "truth", required_argument, NULL, OPT_TRUTH },
		{ "truth-hash", required_argument, NULL, OPT_TRUTH_HASH },
		{ "strict", no_argument, NULL, OPT_STRICT },
		{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
		{ "max-time", required_argument, NULL, OPT_MAX_TIME },
		{ "grace", required_argument, NULL, OPT_GRACE },
		{ "progress", no_argument, NULL, OPT_PROGRESS },
		{ "from", required_argument, NULL, OPT_FROM },
		{ "to", required_argument, NULL, OPT_TO },
		{ "quiet", no_argument, NULL, 'q' },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	const char *lbr_event = NULL;
	int c, rc;

	a->opts.output = "perf.data";
	ptc_options_begin(longs);
	while ((c = getopt_long(argc, argv, "+:o:p:t:e:aC:G:m:S::c:F:r:z::vqh", longs, NULL)) !=
	       -1) {
		switch (c) {
		case 'o':
			a->opts.output = optarg;
			break;
		case 'm':
			if (!ptc_args_mmap(optarg, &a->opts))
				return ptc_value_error("record", "--mmap-pages", optarg,
						       PTC_ARGS_MMAP);
			break;
		case 'z':
			if (!parse_level(optarg, &a->opts.compression))
				return ptc_value_error("record", "--compression-level", optarg,
						       "a level from 1 to %d", PTC_MAX_COMPRESSION);
			break;
		case 'r':
			if (!parse_priority(optarg, &a->opts.realtime))
				return ptc_value_error("record", "--realtime", optarg,
						       "a priority from 1 to 99");
			break;
		case 'p':
			if (!ptc_args_ids(optarg, a->pids, &a->opts.npids))
				return ptc_value_error("record", "--pid", optarg, PTC_ARGS_PIDS);
			break;
		case 't':
			if (!ptc_args_ids(optarg, a->tids, &a->opts.ntids))
				return ptc_value_error("record", "--tid", optarg, PTC_ARGS_TIDS);
			break;
		case 'e':
			if (a->opts.sampler)
				return ptc_usage_error("record", "more than two events (-e)");
			*(a->opts.event ? &a->opts.sampler : &a->opts.event) = optarg;
			break;
		case OPT_AUX_SAMPLE:
			a->opts.aux_sample = AUX_SAMPLE_DEFAULT;
			a->sample_text = optarg;
			break;
		case 'c':
			if (!ptc_parse_count(optarg, &a->opts.sample_period) ||
			    !a->opts.sample_period)
				return ptc_value_error("record", "--count", optarg,
						       "a number of events");
			break;
		case 'F':
			if (!ptc_parse_count(optarg, &a->opts.sample_freq) || !a->opts.sample_freq)
				return ptc_value_error("record", "--freq", optarg,
						       "a number of samples per second");
			break;
		case OPT_LBR:
			if (!ptc_branchsel_parse(optarg ? optarg : LBR_DEFAULT,
						 &a->opts.branch_sample_type))
				return ptc_value_error(
					"record", "--lbr", optarg,
					"names of branch types, for example any_call,u");
			break;
		case OPT_LBR_EVENT:
			lbr_event = optarg;
			break;
		case OPT_LBR_SIZE:
			if (!parse_lbr_size(optarg, &a->opts.lbr_size))
				return ptc_value_error("record", "--lbr-size", optarg,
						       "a number of entries from 1 to %u",
						       PTC_LBR_SIZE_MAX);
			break;
		case OPT_LBR_SPOIL:
			if (!ptc_lbr_args_spoil(optarg, &a->opts.lbr_spoil))
				return ptc_value_error("record", "--lbr-spoil", optarg,
						       "an error to inject; see ptcap-record(1)");
			break;
		case 'a':
			a->opts.all_cpus = true;
			break;
		case 'C':
			a->opts.cpus = optarg;
			break;
		case 'G':
			a->opts.cgroup = optarg;
			break;
		case OPT_FILTER:
			if (a->nfilter_texts == PTC_MAX_FILTER_TEXTS)
				return ptc_usage_error("record", "more than %d --filter options",
						       PTC_MAX_FILTER_TEXTS);
			a->filter_texts[a->nfilter_texts++] = optarg;
			break;
		case OPT_KCORE:
			a->opts.kcore = true;
			break;
		case OPT_PER_THREAD:
			a->opts.per_thread = true;
			break;
		case 'v':
			a->verbose = true;
			break;
		case 'S':
			a->opts.snapshot = true;
			a->snapshot_text = optarg;
			break;
		case OPT_NO_SANDBOX:
			a->no_sandbox = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case OPT_SOURCE:
			if (!ptc_args_source(optarg, &a->opts.source))
				return ptc_value_error("record", "--source", optarg,
						       PTC_ARGS_SOURCES);
			break;
		case OPT_LOSSLESS:
		case OPT_LOSSY:
			a->opts.lossy = c == OPT_LOSSY;
			break;
		case OPT_VCPUS:
			if (!parse_vcpus(optarg, &a->opts.vcpus))
				return ptc_value_error("record", "--vcpus", optarg,
						       "a number of CPUs from 1 to %u",
						       PTC_VCPUS_MAX);
			break;
		case OPT_CODE_SIZE:
			if (!ptc_parse_size(optarg, &a->opts.code_size) || !a->opts.code_size)
				return ptc_value_error("record", "--code-size", optarg,
						       "a size, for example 64M");
			break;
		case OPT_NO_RETCOMP:
			a->opts.no_retcomp = true;
			break;
		case OPT_PSB:
			if (!parse_psb(optarg, &a->opts.psb_period))
				return ptc_value_error("record", "--psb-period", optarg,
						       "a power of two from 2K to 64M");
			break;
		case OPT_TRUTH:
		case OPT_TRUTH_HASH:
			a->truth_path = optarg;
			a->truth_hash = c == OPT_TRUTH_HASH;
			break;
		case OPT_MAX_STEPS:
			if (!ptc_parse_count(optarg, &a->opts.max_steps) || !a->opts.max_steps)
				return ptc_value_error("record", "--max-steps", optarg,
						       "a number of instructions, for example 10M");
			break;
		case OPT_MAX_TIME:
			if (!ptc_parse_duration(optarg, &a->opts.max_ns))
				return ptc_value_error("record", "--max-time", optarg,
						       PTC_ARGS_DURATION);
			break;
		case OPT_GRACE:
			if (!ptc_parse_duration(optarg, &a->grace_ns))
				return ptc_value_error("record", "--grace", optarg,
						       PTC_ARGS_DURATION);
			break;
		case OPT_FROM:
			a->from_text = optarg;
			break;
		case OPT_TO:
			a->to_text = optarg;
			break;
		case OPT_PROGRESS:
			a->progress = true;
			break;
		case OPT_STRICT:
			a->strict = true;
			break;
		case 'h':
			fputs(help, stdout);
			fputs(help_too, stdout);
			return PTC_EXIT_OK;
		default:
			return ptc_option_error("record", argv, c);
		}
	}
	if (a->snapshot_text && !ptc_args_bytes(a->snapshot_text, &a->opts.snapshot_size))
		return ptc_value_error("record", "--snapshot", a->snapshot_text, PTC_ARGS_SIZE);
	if (a->sample_text && !ptc_args_bytes(a->sample_text, &a->opts.aux_sample))
		return ptc_value_error("record", "--aux-sample", a->sample_text, PTC_ARGS_SIZE);
	if (a->opts.sampler && !a->opts.aux_sample)
		return ptc_usage_error("record", "a second event (-e) needs --aux-sample");
	rc = check_lbr(a, lbr_event);
	if (rc >= 0)
		return rc;
	if (a->opts.npids || a->opts.ntids) {
		if (argv[optind])
			return ptc_usage_error("record", "a command cannot be combined with -p or "
							 "-t");
		a->opts.pids = a->pids;
		a->opts.tids = a->tids;
		return -1;
	}
	if (!argv[optind])
		return a->opts.all_cpus || a->opts.cpus || a->opts.cgroup ?
			       -1 :
			       ptc_usage_error("record", "no command to run; give one, or -p PID, "
							 "-t TID, -a, -C or -G");
	a->opts.argv = argv + optind;
	return -1;
}

static int find_from_to(struct ptc_record_args *a, struct ptc_err *err)
{
	const pid_t pid = a->opts.npids ? a->pids[0] : a->tids[0];
	char *program;
	int rc;

	if (!a->from_text && !a->to_text)
		return 0;
	rc = ptc_place_program(a->opts.argv, pid, &program, err);
	if (rc)
		return rc;
	if (a->from_text) {
		rc = ptc_place_parse(a->from_text, program, &a->from, err);
		a->opts.from = &a->from;
	}
	if (!rc && a->to_text) {
		rc = ptc_place_parse(a->to_text, program, &a->to, err);
		a->opts.to = &a->to;
	}
	free(program);
	return rc;
}

int ptc_record_args_places(struct ptc_record_args *a, struct ptc_err *err)
{
	int rc = find_from_to(a, err);
	size_t i;

	for (i = 0; !rc && i < a->nfilter_texts; i++)
		rc = ptc_addr_filters_parse(&a->filters, a->filter_texts[i], "/proc/kallsyms", err);
	a->opts.filters = a->filters.items;
	a->opts.nfilters = a->filters.n;
	return rc;
}

void ptc_record_args_release(struct ptc_record_args *a)
{
	free((char *)a->from.file);
	free((char *)a->to.file);
	ptc_addr_filters_release(&a->filters);
}
