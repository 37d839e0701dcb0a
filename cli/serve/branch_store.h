/* SPDX-License-Identifier: MIT */
/* All branches of a recording in a temporary file, for `ptcap view --serve`. */
#ifndef PTC_CLI_SERVE_BRANCH_STORE_H
#define PTC_CLI_SERVE_BRANCH_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/packed_chunk.h"
#include "cli/view/view_moment.h"

struct ptc_branch_chunk {
	struct ptc_packed_chunk packed;
	uint64_t index; /* branches of the thread before it */
	uint32_t n;
	struct ptc_view_moment begin, end; /* places of the branch before it, and of its last one */
};

struct ptc_branch_row {
	struct ptc_view_moment last;
	uint64_t total;
	struct ptc_branch_chunk now;
	struct ptc_buf raw;
	struct ptc_branch_chunk *chunks; /* owned */
	size_t n, cap;
};

struct ptc_served_branch {
	uint32_t edge; /* number of the different branch */
	struct ptc_view_moment at;
};

struct ptc_branch_store {
	struct ptc_temp_store *file; /* borrowed */
	struct ptc_branch_row *rows; /* owned; by the numbers of the call stream's threads */
	size_t n, cap;
};

/* Initialize with zeros and .file. */
void ptc_branch_store_release(struct ptc_branch_store *s);

/* Add a branch. Places of a thread never go back. @chunk: bytes at which a chunk ends. */
int ptc_branch_store_add(struct ptc_branch_store *s, uint32_t thread,
			 const struct ptc_served_branch *branch, size_t chunk, struct ptc_err *err);

/* End all chunks. */
int ptc_branch_store_finish(struct ptc_branch_store *s, struct ptc_err *err);

/*
 * Returns the first chunk with a branch in [@from, @to] on an axis, and in *@ret_end the chunk
 * behind the last one. *@ret_n: number of their branches.
 */
size_t ptc_branch_range(const struct ptc_branch_row *r, int axis, uint64_t from, uint64_t to,
			size_t *ret_end, uint64_t *ret_n);

/* Read the @c->n branches of a chunk into @ret. PTC_E_FORMAT: the bytes are damaged. */
int ptc_branch_chunk_read(struct ptc_temp_store *file, const struct ptc_branch_chunk *c,
			  struct ptc_buf *bytes, struct ptc_served_branch *ret,
			  struct ptc_err *err);

#endif
