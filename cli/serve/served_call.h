/* SPDX-License-Identifier: MIT */
/* What `ptcap view --serve` stores, and its encoding in chunks. */
#ifndef PTC_CLI_SERVE_SERVED_CALL_H
#define PTC_CLI_SERVE_SERVED_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/number_codec.h"
#include "cli/view/view_moment.h"

/* A call that has ended. */
struct ptc_served_call {
	uint64_t number; /* entries of the thread before this one */
	uint32_t depth, function, site;
	uint8_t how; /* enum ptc_call_how of the entry, and 16 times that of the end */
	struct ptc_view_moment begin, end;
	struct ptc_view_moment inside; /* sums of the calls that this call made itself */
	uint64_t calls;		       /* number of these */
};

/* A call on one axis, or several short calls of one depth. */
struct ptc_served_cell {
	uint64_t number; /* of the call; of several the longest one, as function and how */
	uint32_t depth, function;
	uint8_t how;
	uint64_t begin, end;
	uint64_t count;	  /* calls; 1: just this call */
	uint64_t busy;	  /* sum of their lengths */
	uint64_t longest; /* length of the longest one */
};

/* Calls and cells are relative to the one before. Initialize with zeros. */
struct ptc_served_call_codec {
	struct ptc_served_call last;
};
struct ptc_served_cell_codec {
	struct ptc_served_cell last;
};

/* Append one to @b. */
void ptc_served_call_put(struct ptc_served_call_codec *c, const struct ptc_served_call *call,
			 struct ptc_buf *b);
void ptc_served_cell_put(struct ptc_served_cell_codec *c, const struct ptc_served_cell *cell,
			 struct ptc_buf *b);

/* Read the next one. Returns false if the bytes are damaged. */
bool ptc_served_call_get(struct ptc_served_call_codec *c, struct ptc_numbers *from,
			 struct ptc_served_call *ret);
bool ptc_served_cell_get(struct ptc_served_cell_codec *c, struct ptc_numbers *from,
			 struct ptc_served_cell *ret);

/* Returns the cell of a call. @axis: 0 instructions, 1 time. */
struct ptc_served_cell ptc_served_cell_of(const struct ptc_served_call *call, int axis);

/* Add a cell to a cell of the same depth, which is not behind it. */
void ptc_served_cell_merge(struct ptc_served_cell *to, const struct ptc_served_cell *from);

#endif
