/* SPDX-License-Identifier: MIT */
#include "cli/record/record_args.h"

#include <getopt.h> /* optind */
#include <stdlib.h>

#include "cli/common/args.h"
#include "cli/common/cli.h"
#include "cli/common/place_arg.h"
#include "cli/record/record_options.h"

/* Check the options that require --lbr. Returns -1 to continue, or an exit code. */
static int check_lbr(struct ptc_record_args *a)
{
	struct ptc_record_opts *o = &a->opts;
	const char *event = a->lbr_event;
	const bool lbr = o->lbr.branches;

	if ((event || o->lbr.size || o->lbr.spoil.mode != PTC_SPOIL_NONE) && !lbr)
		return ptc_usage_error("record", "--lbr-event, --lbr-size and --lbr-spoil need "
						 "--lbr");
	if ((o->lbr.period || o->lbr.freq) && !o->lbr.aux_sample && !lbr)
		return ptc_usage_error("record", "--count and --freq need --lbr or --aux-sample");
	if (o->lbr.period && o->lbr.freq)
		return ptc_usage_error("record", "--count and --freq cannot be combined");
	if (event && o->lbr.sampler)
		return ptc_usage_error("record", "two sampling events: a second -e, and "
						 "--lbr-event; give one of them");
	if (event)
		o->lbr.sampler = event;
	if (o->lbr.spoil.mode != PTC_SPOIL_NONE && !a->truth_path)
		return ptc_usage_error("record", "--lbr-spoil needs --truth");
	return -1;
}

/* Check the options together. @rest: the command. Returns -1 to continue, or an exit code. */
static int check(struct ptc_record_args *a, char **rest)
{
	int rc;

	if (a->snapshot_text && !ptc_args_bytes(a->snapshot_text, &a->opts.snapshot.size))
		return ptc_value_error("record", "--snapshot", a->snapshot_text, PTC_ARGS_SIZE);
	if (a->sample_text && !ptc_args_bytes(a->sample_text, &a->opts.lbr.aux_sample))
		return ptc_value_error("record", "--aux-sample", a->sample_text, PTC_ARGS_SIZE);
	if (a->opts.lbr.sampler && !a->opts.lbr.aux_sample)
		return ptc_usage_error("record", "a second event (-e) needs --aux-sample");
	if (a->buildid_cache && a->opts.snapshot.enabled)
		return ptc_usage_error("record", "--buildid-cache cannot be combined with "
						 "--snapshot");
	rc = check_lbr(a);
	if (rc >= 0)
		return rc;
	if (a->opts.target.npids || a->opts.target.ntids) {
		if (rest[0])
			return ptc_usage_error("record", "a command cannot be combined with -p or "
							 "-t");
		a->opts.target.pids = a->pids;
		a->opts.target.tids = a->tids;
		return -1;
	}
	if (!rest[0])
		return a->opts.target.all_cpus || a->opts.target.cpus || a->opts.target.cgroup ?
			       -1 :
			       ptc_usage_error("record", "no command to run; give one, or -p PID, "
							 "-t TID, -a, -C or -G");
	a->opts.target.argv = rest;
	return -1;
}

int ptc_record_args_parse(int argc, char **argv, struct ptc_record_args *a)
{
	int code;

	a->opts.output.path = "perf.data";
	code = ptc_options_parse(&ptc_record_options, argc, argv, a);
	return code < 0 ? check(a, argv + optind) : code;
}

static int find_from_to(struct ptc_record_args *a, struct ptc_err *err)
{
	const pid_t pid = a->opts.target.npids ? a->pids[0] : a->tids[0];
	char *program;
	int rc;

	if (!a->from_text && !a->to_text)
		return 0;
	rc = ptc_place_program(a->opts.target.argv, pid, &program, err);
	if (rc)
		return rc;
	if (a->from_text) {
		rc = ptc_place_parse(a->from_text, program, &a->from, err);
		a->opts.range.from = &a->from;
	}
	if (!rc && a->to_text) {
		rc = ptc_place_parse(a->to_text, program, &a->to, err);
		a->opts.range.to = &a->to;
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
	a->opts.source.filters = a->filters.items;
	a->opts.source.nfilters = a->filters.n;
	return rc;
}

void ptc_record_args_release(struct ptc_record_args *a)
{
	free((char *)a->from.file);
	free((char *)a->to.file);
	ptc_addr_filters_release(&a->filters);
}
