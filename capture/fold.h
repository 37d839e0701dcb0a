/* SPDX-License-Identifier: MIT */
/*
 * Side records folded into what they amount to: which processes and threads there are, their
 * names, what they have mapped, which thread each CPU runs. Memory grows with what there is, not
 * with how often it changed.
 */
#ifndef PTC_CAPTURE_FOLD_H
#define PTC_CAPTURE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/maps.h"
#include "ptcap/error.h"
#include "ptcap/sideband.h"

struct ptc_fold;

/* Records have a trailer as of @sample_type; those that are made are of the event @id. */
struct ptc_fold *ptc_fold_new(uint64_t sample_type, uint64_t id);
void ptc_fold_free(struct ptc_fold *f);

/*
 * Take a record; they come in order of time. What tells of no state (samples, AUX, losses) is
 * forgotten.
 */
int ptc_fold_take(struct ptc_fold *f, const struct ptc_sb *sb, struct ptc_err *err);

/*
 * A munmap has no record: what is mapped at ever new addresses adds up. *ret_pid is a process that
 * it has added up in since it was last asked about, so that a look at what it has mapped now is
 * worth it; until there is twice as much it is not asked about again. False: there is none.
 */
bool ptc_fold_wants_look(struct ptc_fold *f, int32_t *ret_pid);
/*
 * That is @maps, read after all that was said up to @until, and what has been taken since reaches
 * beyond the moment of reading: what was said up to then and is not mapped is forgotten.
 */
int ptc_fold_look(struct ptc_fold *f, int32_t pid, const struct ptc_maps *maps, uint64_t until,
		  struct ptc_err *err);

/*
 * Append records that lead to the same state: at time 0, in front of all else, as those of what
 * ran before a recording.
 */
int ptc_fold_put(const struct ptc_fold *f, struct ptc_buf *b, struct ptc_err *err);

struct ptc_fold_size {
	size_t processes, threads;
	size_t pieces; /* of mappings, and of code that is in no file */
	size_t others; /* records of other kinds */
};
void ptc_fold_size(const struct ptc_fold *f, struct ptc_fold_size *ret);

#endif
