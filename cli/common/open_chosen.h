/* SPDX-License-Identifier: MIT */
/* Opens what the options of a command choose: a recording or raw packets, and a part of the time.
 */
#ifndef PTC_CLI_COMMON_OPEN_CHOSEN_H
#define PTC_CLI_COMMON_OPEN_CHOSEN_H

#include <stddef.h>

#include "cli/common/sandbox.h"
#include "cli/common/selection_args.h"
#include "ptcap/decode.h"

/* All members are borrowed. */
struct ptc_chosen {
	const char *input; /* the recording; not used with pt */
	const char *pt;	   /* raw packets; NULL: a recording */
	const struct ptc_raw_code *raw;
	size_t nraw;
	const struct ptc_decode_opts *opts;
	const struct ptc_time_choice *time; /* NULL: all of the time */
	struct ptc_shard_choice shard;	    /* n 0: all of the trace */
};

/*
 * Use the debuginfod servers @urls (NULL: those of the environment), and check that the files of
 * @code are readable. To be called in front of ptc_sandbox_enter. Returns 0, or an exit code after
 * a message.
 */
int ptc_choose_code(const char *urls, const struct ptc_code_opts *code);

/*
 * Enter @sandbox (NULL: already entered), and open the recording in it. Returns 0 and a decode that
 * the caller frees, or an exit code after a message.
 */
int ptc_open_chosen(const struct ptc_sandbox *sandbox, const struct ptc_chosen *c,
		    struct ptc_decode **ret);

#endif
