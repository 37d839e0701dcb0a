/* SPDX-License-Identifier: MIT */
#include "cli/record/record_args.h"

#include <getopt.h>
#include <stdlib.h>

#include "auxtrace/record/branchsel.h"
#include "cli/common/args.h"
#include "cli/common/cli.h"
#include "cli/common/place_arg.h"
#include "cli/record/lbr_args.h"
#include "cli/record/record_help.h"

enum { AUX_SAMPLE_DEFAULT = 4096 };

#define LBR_DEFAULT "any,u"

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

static const struct option longs[] = { { "output", required_argument, NULL, 'o' },
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
				       { NULL, 0, NULL, 0 } };

/*
 * Each take_ function handles some options, and passes other options on to the next take_ function.
 * Returns -1 to continue, or an exit code.
 */

/* Options without an argument. */
static int take_flag(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
	case 'a':
		a->opts.all_cpus = true;
		break;
	case OPT_KCORE:
		a->opts.kcore = true;
		break;
	case OPT_PER_THREAD:
		a->opts.per_thread = true;
		break;
	case OPT_LOSSLESS:
	case OPT_LOSSY:
		a->opts.lossy = c == OPT_LOSSY;
		break;
	case OPT_NO_RETCOMP:
		a->opts.no_retcomp = true;
		break;
	case OPT_PROGRESS:
		a->progress = true;
		break;
	case OPT_STRICT:
		a->strict = true;
		break;
	case OPT_NO_SANDBOX:
		a->no_sandbox = true;
		break;
	case 'v':
		a->verbose = true;
		break;
	case 'q':
		a->quiet = true;
		break;
	case 'h':
		ptc_record_help();
		return PTC_EXIT_OK;
	default:
		return ptc_option_error("record", argv, c);
	}
	return -1;
}

/* Options whose argument is checked later, or is any text. */
static int take_text(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
	case 'o':
		a->opts.output = optarg;
		break;
	case 'C':
		a->opts.cpus = optarg;
		break;
	case 'G':
		a->opts.cgroup = optarg;
		break;
	case OPT_FROM:
		a->from_text = optarg;
		break;
	case OPT_TO:
		a->to_text = optarg;
		break;
	case 'S':
		a->opts.snapshot = true;
		a->snapshot_text = optarg;
		break;
	case OPT_AUX_SAMPLE:
		a->opts.aux_sample = AUX_SAMPLE_DEFAULT;
		a->sample_text = optarg;
		break;
	case OPT_LBR_EVENT:
		a->lbr_event = optarg;
		break;
	case OPT_TRUTH:
	case OPT_TRUTH_HASH:
		a->truth_path = optarg;
		a->truth_hash = c == OPT_TRUTH_HASH;
		break;
	default:
		return take_flag(a, argv, c);
	}
	return -1;
}

/* Options that limit the recording. */
static int take_limit(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
	case OPT_MAX_STEPS:
		if (!ptc_parse_count(optarg, &a->opts.max_steps) || !a->opts.max_steps)
			return ptc_value_error("record", "--max-steps", optarg,
					       "a number of instructions, for example 10M");
		break;
	case OPT_MAX_TIME:
		if (!ptc_parse_duration(optarg, &a->opts.max_ns))
			return ptc_value_error("record", "--max-time", optarg, PTC_ARGS_DURATION);
		break;
	case OPT_GRACE:
		if (!ptc_parse_duration(optarg, &a->grace_ns))
			return ptc_value_error("record", "--grace", optarg, PTC_ARGS_DURATION);
		break;
	default:
		return take_text(a, argv, c);
	}
	return -1;
}

/* Options of samples and branch stacks. */
static int take_sample(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
	case 'c':
		if (!ptc_parse_count(optarg, &a->opts.sample_period) || !a->opts.sample_period)
			return ptc_value_error("record", "--count", optarg, "a number of events");
		break;
	case 'F':
		if (!ptc_parse_count(optarg, &a->opts.sample_freq) || !a->opts.sample_freq)
			return ptc_value_error("record", "--freq", optarg,
					       "a number of samples per second");
		break;
	case OPT_LBR:
		if (!ptc_branchsel_parse(optarg ? optarg : LBR_DEFAULT,
					 &a->opts.branch_sample_type))
			return ptc_value_error("record", "--lbr", optarg,
					       "names of branch types, for example any_call,u");
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
	default:
		return take_limit(a, argv, c);
	}
	return -1;
}

/* Options of ring buffers, packets and the file. */
static int take_buffer(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
	case 'm':
		if (!ptc_args_mmap(optarg, &a->opts))
			return ptc_value_error("record", "--mmap-pages", optarg, PTC_ARGS_MMAP);
		break;
	case 'r':
		if (!parse_priority(optarg, &a->opts.realtime))
			return ptc_value_error("record", "--realtime", optarg,
					       "a priority from 1 to 99");
		break;
	case 'z':
		if (!parse_level(optarg, &a->opts.compression))
			return ptc_value_error("record", "--compression-level", optarg,
					       "a level from 1 to %d", PTC_MAX_COMPRESSION);
		break;
	case OPT_VCPUS:
		if (!parse_vcpus(optarg, &a->opts.vcpus))
			return ptc_value_error("record", "--vcpus", optarg,
					       "a number of CPUs from 1 to %u", PTC_VCPUS_MAX);
		break;
	case OPT_CODE_SIZE:
		if (!ptc_parse_size(optarg, &a->opts.code_size) || !a->opts.code_size)
			return ptc_value_error("record", "--code-size", optarg,
					       "a size, for example 64M");
		break;
	case OPT_PSB:
		if (!parse_psb(optarg, &a->opts.psb_period))
			return ptc_value_error("record", "--psb-period", optarg,
					       "a power of two from 2K to 64M");
		break;
	default:
		return take_sample(a, argv, c);
	}
	return -1;
}

/* Options that say what to record. */
static int take_target(struct ptc_record_args *a, char **argv, int c)
{
	switch (c) {
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
	case OPT_FILTER:
		if (a->nfilter_texts == PTC_MAX_FILTER_TEXTS)
			return ptc_usage_error("record", "more than %d --filter options",
					       PTC_MAX_FILTER_TEXTS);
		a->filter_texts[a->nfilter_texts++] = optarg;
		break;
	case OPT_SOURCE:
		if (!ptc_args_source(optarg, &a->opts.source))
			return ptc_value_error("record", "--source", optarg, PTC_ARGS_SOURCES);
		break;
	default:
		return take_buffer(a, argv, c);
	}
	return -1;
}

/* Check the options that require --lbr. Returns -1 to continue, or an exit code. */
static int check_lbr(struct ptc_record_args *a)
{
	struct ptc_record_opts *o = &a->opts;
	const char *event = a->lbr_event;
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

/* Check the options together. @rest: the command. Returns -1 to continue, or an exit code. */
static int check(struct ptc_record_args *a, char **rest)
{
	int rc;

	if (a->snapshot_text && !ptc_args_bytes(a->snapshot_text, &a->opts.snapshot_size))
		return ptc_value_error("record", "--snapshot", a->snapshot_text, PTC_ARGS_SIZE);
	if (a->sample_text && !ptc_args_bytes(a->sample_text, &a->opts.aux_sample))
		return ptc_value_error("record", "--aux-sample", a->sample_text, PTC_ARGS_SIZE);
	if (a->opts.sampler && !a->opts.aux_sample)
		return ptc_usage_error("record", "a second event (-e) needs --aux-sample");
	rc = check_lbr(a);
	if (rc >= 0)
		return rc;
	if (a->opts.npids || a->opts.ntids) {
		if (rest[0])
			return ptc_usage_error("record", "a command cannot be combined with -p or "
							 "-t");
		a->opts.pids = a->pids;
		a->opts.tids = a->tids;
		return -1;
	}
	if (!rest[0])
		return a->opts.all_cpus || a->opts.cpus || a->opts.cgroup ?
			       -1 :
			       ptc_usage_error("record", "no command to run; give one, or -p PID, "
							 "-t TID, -a, -C or -G");
	a->opts.argv = rest;
	return -1;
}

int ptc_record_args_parse(int argc, char **argv, struct ptc_record_args *a)
{
	int c, rc;

	a->opts.output = "perf.data";
	ptc_options_begin(longs);
	while ((c = getopt_long(argc, argv, "+:o:p:t:e:aC:G:m:S::c:F:r:z::vqh", longs, NULL)) !=
	       -1) {
		rc = take_target(a, argv, c);
		if (rc >= 0)
			return rc;
	}
	return check(a, argv + optind);
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
