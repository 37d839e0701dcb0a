/* SPDX-License-Identifier: MIT */
/* convert --branch-stacks: samples generated from the trace of the recording being copied. */
#ifndef PTC_CLI_CONVERT_BRANCH_STACKS_H
#define PTC_CLI_CONVERT_BRANCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/copy.h"
#include "ptcap/synth.h"

struct ptc_branch_stacks {
	struct ptc_synth_stacks_opts opts;
	struct perf_event_attr attr; /* of the added event */
	struct ptc_copy_more more;
	uint64_t written;
};

/* Parse "N,PERIOD", each optional; NULL: the defaults. Returns false if malformed. */
bool ptc_branch_stacks_parse(const char *s, struct ptc_synth_stacks_opts *ret);

/*
 * Open @path again for decoding; @f is the same recording. Sets up @b->more for ptc_copy_opts, and
 * @b->opts except size, depth, period and sel. The caller must close @b even after a failure.
 */
int ptc_branch_stacks_open(struct ptc_branch_stacks *b, const char *path, const struct ptc_file *f,
			   struct ptc_err *err);
/*
 * Report gaps and missing code of the trace. If @done, the copy is complete: also report the number
 * of generated samples, if they were requested.
 */
void ptc_branch_stacks_close(struct ptc_branch_stacks *b, bool done);

#endif
