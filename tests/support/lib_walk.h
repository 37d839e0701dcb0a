/* SPDX-License-Identifier: MIT */
/*
 * Reads everything that can be read from the bytes and checks all invariants; aborts if one fails.
 */
#ifndef PTC_TESTS_LIB_WALK_H
#define PTC_TESTS_LIB_WALK_H

#include "auxtrace/reader/reader.h"

/*
 * Runs one record through every record parser. A parsed record, when written, must parse to the
 * same record. @attr (NULL: none): the event if the record is a sample. Returns a number that
 * depends on all data read.
 */
size_t wk_record(const struct ptc_rec *rec, uint64_t trailer_type,
		 const struct perf_event_attr *attr);

/*
 * Opens bytes as a recording, walks it, parses every record and reads every feature. Records must
 * ascend and lie inside the data. Borrowed data must lie inside the file or its decompressed
 * records, and queues must add up. In damaged mode the records must be the first ones of these, and
 * end without an error. There must always be enough memory. Returns the result of opening.
 */
int wk_file(const uint8_t *bytes, size_t len);

#endif
