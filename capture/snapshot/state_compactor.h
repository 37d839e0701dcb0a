/* SPDX-License-Identifier: MIT */
/*
 * Reduces sideband records to the state they lead to: processes, threads, names, mappings, and the
 * thread that runs on each CPU. Memory grows with the size of that state, not with the number of
 * changes.
 */
#ifndef PTC_CAPTURE_SNAPSHOT_STATE_COMPACTOR_H
#define PTC_CAPTURE_SNAPSHOT_STATE_COMPACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/host/maps.h"
#include "ptcap/error.h"
#include "ptcap/sideband.h"

struct ptc_fold;

/*
 * @sample_type gives the trailer of all records. The records that ptc_fold_put makes belong to
 * event @id.
 */
struct ptc_fold *ptc_fold_new(uint64_t sample_type, uint64_t id);
void ptc_fold_free(struct ptc_fold *f);

/*
 * Applies a record. Records must come in time order. Records that change no state are ignored:
 * samples, AUX, losses.
 */
int ptc_fold_take(struct ptc_fold *f, const struct ptc_sb *sb, struct ptc_err *err);

/*
 * munmap makes no record, so mappings at ever new addresses accumulate. Returns true if a process
 * has accumulated enough to be worth a look at its current mappings. *ret_pid is that process. It
 * is not returned again until its number of mappings has doubled.
 */
bool ptc_fold_wants_look(struct ptc_fold *f, int32_t *ret_pid);
/*
 * Forgets mappings that are gone. @maps are the current mappings of @pid, read after all records up
 * to time @until were drained. The records taken since must reach past the moment of that reading.
 * A mapping from a record of time @until or earlier that is not in @maps is forgotten.
 */
int ptc_fold_look(struct ptc_fold *f, int32_t pid, const struct ptc_maps *maps, uint64_t until,
		  struct ptc_err *err);

/*
 * Appends records that recreate the state. Their time is 0, like that of records about processes
 * that ran before the recording.
 */
int ptc_fold_put(const struct ptc_fold *f, struct ptc_buf *b, struct ptc_err *err);

struct ptc_fold_size {
	size_t processes, threads;
	size_t pieces; /* parts of mappings, and of code that is in no file */
	size_t others; /* records of other kinds */
};
void ptc_fold_size(const struct ptc_fold *f, struct ptc_fold_size *ret);

#endif
