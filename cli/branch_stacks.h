/* SPDX-License-Identifier: MIT */
/* convert --branch-stacks: samples made from the trace of the recording that is copied. */
#ifndef PTC_CLI_BRANCH_STACKS_H
#define PTC_CLI_BRANCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/copy.h"
#include "decode/stacks.h"

struct ptc_branch_stacks {
	struct ptc_stacks_opts opts;
	struct ptc_copy_more more;
	uint64_t written;
};

/* "N,PERIOD", either may be missing; NULL: the defaults. False: it is something else. */
bool ptc_branch_stacks_parse(const char *s, struct ptc_stacks_opts *ret);

/*
 * Open @path, which @f is, once more, to be decoded: @b->more, for ptc_copy_opts, is then ready. To
 * be closed whether it succeeds or not. @b->opts but for depth, period and sel is set here.
 */
int ptc_branch_stacks_open(struct ptc_branch_stacks *b, const char *path, const struct ptc_file *f,
			   struct ptc_err *err);
/* Says what the trace lacked, and how many samples were made, if any was asked for. */
void ptc_branch_stacks_close(struct ptc_branch_stacks *b);

#endif
