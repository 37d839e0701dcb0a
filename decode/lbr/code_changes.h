/* SPDX-License-Identifier: MIT */
/*
 * Code that was replaced while a recording was made. A branch stack may have entries from before
 * the change, so the code of the sample's time proves nothing about such entries.
 */
#ifndef PTC_DECODE_LBR_CODE_CHANGES_H
#define PTC_DECODE_LBR_CODE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

struct ptc_decode_input;
struct ptc_err;

enum { PTC_CODE_CHANGES = 256 };

/* Starts zeroed. */
struct ptc_code_changes {
	struct {
		uint64_t start, end;
	} ranges[PTC_CODE_CHANGES]; /* addresses with other code than before, in any process */
	size_t n;
	bool many; /* more changes than ranges */
	/* Processes that executed another program. mixed: their stacks may have older entries. */
	struct ptc_idmap pids;
	bool *mixed; /* owned */
	size_t npids, cap;
};

void ptc_code_changes_release(struct ptc_code_changes *c);

/* Apply the sideband records of @in up to @time, and note the changes. Errors: as ptc_decode_run.
 */
int ptc_code_changes_apply(struct ptc_code_changes *c, struct ptc_decode_input *in, uint64_t time,
			   struct ptc_err *err);

/* Has there been other code at @ip? */
bool ptc_code_changed(const struct ptc_code_changes *c, uint64_t ip);

/* May stacks of @pid have entries of an earlier program? */
bool ptc_code_is_mixed(const struct ptc_code_changes *c, int32_t pid);

/* A whole stack of @pid is of the new program: later stacks are so, too. */
void ptc_code_set_pure(struct ptc_code_changes *c, int32_t pid);

#endif
