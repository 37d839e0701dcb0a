/* SPDX-License-Identifier: MIT */
/* The source files of a part, and the addresses from which threads called functions. */
#ifndef PTC_CLI_SUM_JOINED_PLACES_H
#define PTC_CLI_SUM_JOINED_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/common/number_index.h"
#include "cli/sum/sum_line.h"

/* Initialize with zeros. Caller frees v. */
struct ptc_joined_sources {
	uint32_t *v; /* owned; numbers of names in the stream, by the number in the part - 1 */
	size_t n, cap;
};

/* Adds the source file of a line. */
int ptc_joined_sources_add(struct ptc_joined_sources *s, struct ptc_names *names,
			   const struct ptc_sum_line *l, struct ptc_err *err);

/* Gets the place of a line of source file @source, by its number in the part; 0: not known. */
int ptc_joined_source(const struct ptc_joined_sources *s, const struct ptc_sum_line *l,
		      uint64_t source, uint64_t line, struct ptc_source_line *ret,
		      struct ptc_err *err);

/* An address that a thread ran. */
struct ptc_place_of_thread {
	int32_t tid;
	uint64_t ip;
	uint32_t function; /* in the stream */
	struct ptc_source_line at;
};

/* Initialize with zeros. */
struct ptc_joined_places {
	struct ptc_place_of_thread *v; /* owned */
	size_t n, cap;
	struct ptc_number_index index;
};

/* Notes @p, in place of an older place with its tid and ip. Returns false if out of memory. */
bool ptc_joined_places_note(struct ptc_joined_places *o, const struct ptc_place_of_thread *p);

/* Returns the place, valid until the next ptc_joined_places_note. NULL: not known. */
const struct ptc_place_of_thread *ptc_joined_places_find(const struct ptc_joined_places *o,
							 int32_t tid, uint64_t ip);

void ptc_joined_places_release(struct ptc_joined_places *o);

#endif
