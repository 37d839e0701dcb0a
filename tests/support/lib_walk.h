/* SPDX-License-Identifier: MIT */
/* Everything that can be read of bytes is read, and what must hold is held; abort() where it does
 * not. */
#ifndef PTC_TESTS_LIB_WALK_H
#define PTC_TESTS_LIB_WALK_H

#include "auxtrace/reader.h"

/*
 * One record, through every parser of records. What a typed one is put as is
 * read as the same again. @attr (NULL: none) is of the event that it would be a
 * sample of. Returns a number that depends on all that was read.
 */
size_t wk_record(const struct ptc_rec *rec, uint64_t trailer_type,
		 const struct perf_event_attr *attr);

/*
 * Bytes as a recording: opened, walked, every record typed, every feature read.
 * Records ascend and lie inside the data, what is lent lies inside the file or
 * what its compressed records expand to, queues add up; as a damaged file, its
 * records are a beginning of these and end without an error. There is always
 * memory for it. Returns what opening it returned.
 */
int wk_file(const uint8_t *bytes, size_t len);

#endif
