/* SPDX-License-Identifier: MIT */
/* Finding the intact part of a damaged recording. */
#ifndef PTC_AUXTRACE_READER_SALVAGE_H
#define PTC_AUXTRACE_READER_SALVAGE_H

#include "auxtrace/reader/file_private.h"

/*
 * Read all records of a tolerant @f. The data of each part are cut before the first damaged record,
 * and the damage is recorded. If the header has no features, they are searched behind the data.
 * Errors: only PTC_E_NO_MEMORY.
 */
int ptc_salvage(struct ptc_file *f, struct ptc_err *err);

/*
 * Returns the bytes of trace, in whole words, of the cut-off chunk at @pos of part @i's data, if
 * the data end with the file. 0: no such chunk. If the data end inside the file, the chunk's size
 * is wrong, and the amount of trace is unknown.
 */
uint64_t ptc_salvage_trace(const struct ptc_file *f, size_t i, uint64_t pos);

#endif
