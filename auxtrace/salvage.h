/* SPDX-License-Identifier: MIT */
/* What is left of a damaged recording. */
#ifndef PTC_AUXTRACE_SALVAGE_H
#define PTC_AUXTRACE_SALVAGE_H

#include "auxtrace/header.h"

/*
 * Walk all records of a tolerant @f: the data of each part end in front of the
 * first damaged one, of which a damage is noted. Where a header says nothing of
 * features, they may be found behind the data. Out of memory is the only error.
 */
int ptc_salvage(struct ptc_file *f, struct ptc_err *err);

/*
 * How much trace there is, in whole words, in a piece at @pos of part @i's data, which end where
 * the file does, and the piece does not. 0: there is no such piece. Inside a file its size is
 * what is wrong: then nobody knows how much is trace.
 */
uint64_t ptc_salvage_trace(const struct ptc_file *f, size_t i, uint64_t pos);

#endif
