/* SPDX-License-Identifier: MIT */
/* The recording's side records, in time order, and what they do to the processes. */
#ifndef PTC_DECODE_SIDEBAND_H
#define PTC_DECODE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader.h"
#include "auxtrace/sideband.h"

struct ptc_procs;

struct ptc_event {
	uint64_t time;	  /* 0: synthesised, or no time recorded */
	struct ptc_sb sb; /* strings and bytes lent from the file */
};

/* A file's build-id, from the BUILD_ID feature. */
struct ptc_known_id {
	const char *filename; /* lent */
	struct ptc_build_id id;
};

struct ptc_sideband {
	struct ptc_event *events; /* owned; by time once sorted, else as in the file */
	size_t n, cap;
	struct ptc_known_id *ids; /* owned */
	size_t nids, ids_cap;
	size_t next; /* to be applied */
};

void ptc_sideband_release(struct ptc_sideband *s);

/* Keep a typed record of the file. */
int ptc_sideband_add(struct ptc_sideband *s, const struct ptc_sb *sb, struct ptc_err *err);
/* Keep what the BUILD_ID feature says. */
int ptc_sideband_features(struct ptc_sideband *s, const struct ptc_file *f, struct ptc_err *err);
void ptc_sideband_sort(struct ptc_sideband *s);

/* The next event not after @time, or NULL. */
static inline const struct ptc_event *ptc_sideband_peek(const struct ptc_sideband *s, uint64_t time)
{
	return s->next < s->n && s->events[s->next].time <= time ? &s->events[s->next] : NULL;
}

/* Do what the next event says, and move on. */
int ptc_sideband_apply(struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_err *err);

/* The build-id of what @m maps: its own, else what the BUILD_ID feature says; NULL: not known. */
const struct ptc_build_id *ptc_sideband_id(const struct ptc_sideband *s,
					   const struct ptc_sb_mmap *m);

#endif
