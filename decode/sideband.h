/* SPDX-License-Identifier: MIT */
/*
 * The recording's side records, read from the file in time order, and what they
 * do to the processes. Those that somebody looked ahead at are in memory.
 */
#ifndef PTC_DECODE_SIDEBAND_H
#define PTC_DECODE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/order.h"
#include "auxtrace/reader.h"
#include "auxtrace/sideband.h"

struct ptc_proc;
struct ptc_procs;

/* In misc of an event that was added: from here on the bytes have another name, and nothing else.
 */
enum { PTC_SIDEBAND_NAME = 1 << 15 };

struct ptc_event {
	uint64_t time;	  /* 0: synthesised, or no time recorded */
	struct ptc_sb sb; /* strings and bytes lent from the file */
};

/* A file's build-id, from the BUILD_ID feature. */
struct ptc_known_id {
	const char *filename; /* lent */
	struct ptc_build_id id;
	size_t nr; /* in the recording's order */
};

struct ptc_sideband {
	struct ptc_order *order;     /* owned; NULL: there are no events */
	const struct ptc_file *file; /* lent */
	struct ptc_event *read;	     /* owned; [head, nread) are to be applied */
	size_t head, nread, read_cap;
	int failed; /* what reading on came to, once they are applied: PTC_E_* and its error */
	struct ptc_err why;
	struct ptc_event *added; /* owned; events that are not in the file, by time */
	size_t nadded, added_cap, next_added;
	struct ptc_known_id *ids; /* owned; by name, one for each, the kernel image first */
	size_t nids, ids_cap;
};

void ptc_sideband_release(struct ptc_sideband *s);

/*
 * Sorts the ids by name, and leaves one for each name: of several kernels the first one in the
 * recording. A file of which there are two was replaced: its id is empty then, as nothing says
 * which mapping was of which.
 */
void ptc_sideband_sort_ids(struct ptc_sideband *s);

/*
 * Begin to read @f, which is lent and must outlive @s. @no_rounds as in
 * ptc_order_opts.
 */
int ptc_sideband_open(struct ptc_sideband *s, const struct ptc_file *f, bool no_rounds,
		      struct ptc_err *err);
/* Forget what it reads; what was added stays. */
void ptc_sideband_close(struct ptc_sideband *s);
/* Begin again. */
int ptc_sideband_rewind(struct ptc_sideband *s, bool no_rounds, struct ptc_err *err);
/* Keep what the BUILD_ID feature says. */
int ptc_sideband_features(struct ptc_sideband *s, const struct ptc_file *f, struct ptc_err *err);

/* Add an event of sb->id.time; what @sb lends must outlive @s. Then sort, before the first is
 * applied. */
int ptc_sideband_add(struct ptc_sideband *s, const struct ptc_sb *sb, struct ptc_err *err);
void ptc_sideband_sort(struct ptc_sideband *s);

/* The next event not after @time, or NULL. At equal times those of the file come first. */
static inline const struct ptc_event *ptc_sideband_peek(const struct ptc_sideband *s, uint64_t time)
{
	const struct ptc_event *ev = s->head < s->nread ? &s->read[s->head] : NULL;

	if (s->next_added < s->nadded && (!ev || s->added[s->next_added].time < ev->time))
		ev = &s->added[s->next_added];
	return ev && ev->time <= time ? ev : NULL;
}

/*
 * Of the events up to @time that are to be applied, is there one that @test says so of? *ret_time
 * is its time. So it is if they are too many to be looked at, or cannot be read.
 */
typedef bool ptc_sideband_test(void *ctx, const struct ptc_event *ev);
bool ptc_sideband_find(struct ptc_sideband *s, uint64_t time, ptc_sideband_test *test, void *ctx,
		       uint64_t *ret_time);

/* Do what the next event says, and move on. */
int ptc_sideband_apply(struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_err *err);

/* Whose code @sb changes, which is a mapping, or a patch, of a process; -1: nobody's. */
int32_t ptc_sideband_code_of(const struct ptc_sb *sb);
/* Do what it says to the code of @p, which that is. @ps has the files. False: out of memory. */
bool ptc_sideband_change(const struct ptc_sideband *s, struct ptc_procs *ps, struct ptc_proc *p,
			 const struct ptc_sb *sb);

/*
 * The build-id of what @m maps: its own, else what the BUILD_ID feature says. NULL: not known, or
 * the feature has several for that name.
 */
const struct ptc_build_id *ptc_sideband_id(const struct ptc_sideband *s,
					   const struct ptc_sb_mmap *m);

#endif
