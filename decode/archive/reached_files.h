/* SPDX-License-Identifier: MIT */
/* The code files that a decoded trace reached, and the processes that ran code without a file. */
#ifndef PTC_DECODE_ARCHIVE_REACHED_FILES_H
#define PTC_DECODE_ARCHIVE_REACHED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_codefile;
struct ptc_decode;
struct ptc_item;

/* The range of the newest address. Branches often stay in one file. */
struct ptc_reached_range {
	const struct ptc_addrspace *as;
	uint64_t version, start, end;
};

struct ptc_reached_file {
	const struct ptc_codefile *file; /* lent by the decode */
};

/* Set @d, and zero all else. */
struct ptc_reached {
	struct ptc_decode *d;		/* lent */
	struct ptc_reached_file *files; /* owned */
	size_t nfiles, files_cap;
	int32_t *pids; /* owned; processes whose code may have names in a perf-PID.map */
	size_t npids, pids_cap;
	struct ptc_reached_range last[2]; /* of sources, of targets */
};

void ptc_reached_release(struct ptc_reached *r);

/*
 * Take items of the decode, as a ptc_sink gets them (@ctx is the struct ptc_reached). Returns 0, or
 * PTC_E_NO_MEMORY.
 */
int ptc_reached_items(void *ctx, const struct ptc_item *items, size_t n);

bool ptc_reached_has(const struct ptc_reached *r, const struct ptc_codefile *f);

#endif
