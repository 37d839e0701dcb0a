/* SPDX-License-Identifier: MIT */
/* The options of `ptcap record`. */
#ifndef PTC_CLI_RECORD_RECORD_ARGS_H
#define PTC_CLI_RECORD_RECORD_ARGS_H

#include "cli/common/args.h"
#include "cli/record/addr_filter.h"
#include "ptcap/capture.h"

enum { PTC_MAX_COMPRESSION = 22, PTC_MAX_FILTER_TEXTS = 16 };

struct ptc_record_args {
	struct ptc_record_opts opts;
	pid_t pids[PTC_MAX_TARGETS], tids[PTC_MAX_TARGETS];
	bool truth_hash; /* --truth-hash */
	const char *truth_path;
	const char *snapshot_text; /* SIZE of --snapshot; NULL: not given */
	const char *sample_text;   /* SIZE of --aux-sample; NULL: not given */
	const char *lbr_event;	   /* --lbr-event; NULL: not given */
	const char *from_text, *to_text;
	struct ptc_place from, to;
	const char *filter_texts[PTC_MAX_FILTER_TEXTS]; /* --filter */
	size_t nfilter_texts;
	struct ptc_filter_list filters;
	uint64_t grace_ns; /* --grace; 0: the default */
	bool strict, quiet, progress, verbose, no_sandbox;
	bool buildid_cache; /* --buildid-cache */
	bool terminal;	    /* stderr is a terminal: progress overwrites one line */
	bool line;	    /* such a line is on the screen */
};

#define PTC_RECORD_ARGS_INIT                                                                       \
	{                                                                                          \
		.opts = PTC_RECORD_OPTS_INIT                                                       \
	}

/* Returns -1 to continue, or an exit code. */
int ptc_record_args_parse(int argc, char **argv, struct ptc_record_args *a);

/* Resolve --from, --to and the places in --filter, before anything runs. */
int ptc_record_args_places(struct ptc_record_args *a, struct ptc_err *err);

void ptc_record_args_release(struct ptc_record_args *a);

#endif
