/* SPDX-License-Identifier: MIT */
/*
 * The recording's sideband records, read from the file in order of time, and their effect on the
 * processes. Only the next record is in memory.
 */
#ifndef PTC_DECODE_SIDEBAND_SIDEBAND_H
#define PTC_DECODE_SIDEBAND_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader/reader.h"
#include "auxtrace/reader/time_order.h"
#include "auxtrace/record/sideband.h"

struct ptc_proc;
struct ptc_procs;

/* In misc of an added event: from here on the bytes have another name. Nothing else changes. */
enum { PTC_SIDEBAND_NAME = 1 << 15 };

struct ptc_event {
	uint64_t time;	  /* 0: synthesized, or no time recorded */
	struct ptc_sb sb; /* strings and bytes lent from the file */
};

/* A file's build-id, from the BUILD_ID feature. */
struct ptc_queue_contexts_id {
	const char *filename; /* lent */
	struct ptc_build_id id;
	size_t nr; /* index in the recording */
};

struct ptc_sideband {
	struct ptc_order *order;     /* owned; NULL: no events */
	const struct ptc_file *file; /* lent */
	bool no_rounds;		     /* as in ptc_order_opts */
	struct ptc_event next;	     /* of the file; if has_next */
	bool has_next;
	struct ptc_event *added; /* owned; events that are not in the file, by time */
	size_t nadded, added_cap, next_added;
	struct ptc_queue_contexts_id
		*ids; /* owned; sorted by name, one per name, the kernel image first */
	size_t nids, ids_cap;
};

void ptc_sideband_release(struct ptc_sideband *s);

/*
 * Sorts the ids by name and keeps one per name: of several kernels the first in the recording. A
 * file with two ids was replaced. Its id becomes empty, because the recording does not say which
 * mapping had which id.
 */
void ptc_sideband_sort_ids(struct ptc_sideband *s);

/* Begins to read @f, which is lent and must outlive @s. @no_rounds as in ptc_order_opts. */
int ptc_sideband_open(struct ptc_sideband *s, const struct ptc_file *f, bool no_rounds,
		      struct ptc_err *err);
/* Drops the events read from the file. Added events stay. */
void ptc_sideband_close(struct ptc_sideband *s);
/* Begins again with the first record. */
int ptc_sideband_rewind(struct ptc_sideband *s, struct ptc_err *err);
/* Reads the BUILD_ID feature. */
int ptc_sideband_features(struct ptc_sideband *s, const struct ptc_file *f, struct ptc_err *err);

/*
 * Adds an event with the time sb->id.time. What @sb lends must outlive @s. Call ptc_sideband_sort()
 * after the last one, before the first event is applied.
 */
int ptc_sideband_add(struct ptc_sideband *s, const struct ptc_sb *sb, struct ptc_err *err);
void ptc_sideband_sort(struct ptc_sideband *s);

/* Returns the next event not after @time, or NULL. At equal times those of the file come first. */
static inline const struct ptc_event *ptc_sideband_peek(const struct ptc_sideband *s, uint64_t time)
{
	const struct ptc_event *ev = s->has_next ? &s->next : NULL;

	if (s->next_added < s->nadded && (!ev || s->added[s->next_added].time < ev->time))
		ev = &s->added[s->next_added];
	return ev && ev->time <= time ? ev : NULL;
}

/* Applies the next event to @ps, and moves on. */
int ptc_sideband_apply(struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_err *err);

/*
 * Returns the build-id of the file that @m maps: its own, else the one from the BUILD_ID feature.
 * NULL: not known, or the feature has several for that name.
 */
const struct ptc_build_id *ptc_sideband_id(const struct ptc_sideband *s,
					   const struct ptc_sb_mmap *m);

#endif
