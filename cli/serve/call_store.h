/* SPDX-License-Identifier: MIT */
/*
 * All calls of a recording in a temporary file, for `ptcap view --serve`.
 *
 * Each thread has its own chunks, so both axes grow in them. A chunk has the calls that began and
 * ended in it. A call that is open at the end of a chunk is a record of its own with the place of
 * its caller's record. So one place (the chunk's top) is the whole stack, and a call is stored
 * once, however long it is. Memory has only an index of chunks, and the open calls.
 */
#ifndef PTC_CLI_SERVE_CALL_STORE_H
#define PTC_CLI_SERVE_CALL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/packed_chunk.h"
#include "cli/serve/served_call.h"

enum {
	PTC_FUNCTION_BITS = 4096, /* of the set of a chunk's functions */
	PTC_FUNCTION_WORDS = PTC_FUNCTION_BITS / 64,
};

struct ptc_call_chunk {
	struct ptc_packed_chunk packed;
	uint64_t first;			   /* number of the first call that began in the chunk */
	uint32_t entries, ended;	   /* begins of calls; calls with both ends in this chunk */
	uint32_t shallow, deep;		   /* depths of its entries; shallow > deep: none */
	struct ptc_view_moment begin, end; /* of its events */
	uint64_t top; /* record of the innermost call open at its end; 0: none */
	/* Two bits for each function that was entered. Other functions may have the same bits. */
	uint64_t functions[PTC_FUNCTION_WORDS];
};

struct ptc_stored_thread {
	struct ptc_open_record *stack; /* owned; open calls, the outermost first */
	size_t depth, stack_cap;
	size_t recorded; /* so many of the outermost open calls have records */
	uint64_t entries;
	struct ptc_call_chunk now; /* the chunk that is being filled */
	struct ptc_buf raw;
	struct ptc_served_call_codec codec;
	struct ptc_call_chunk *chunks; /* owned */
	size_t n, cap;
};

struct ptc_call_store {
	struct ptc_temp_store *file;	   /* borrowed */
	struct ptc_stored_thread *threads; /* owned; by the numbers of the call stream */
	size_t n, cap;
	struct ptc_buf bytes;
};

struct ptc_call_list {
	struct ptc_served_call *v; /* owned */
	size_t n, cap;
};

void ptc_call_store_init(struct ptc_call_store *s, struct ptc_temp_store *file);
void ptc_call_store_release(struct ptc_call_store *s);

/* Add an entry of @function. Places of a thread never go back. */
int ptc_call_store_enter(struct ptc_call_store *s, uint32_t thread, uint32_t function, uint8_t how,
			 uint32_t site, struct ptc_view_moment at, struct ptc_err *err);

/* End the innermost open call of a thread. *@ret: this call. */
int ptc_call_store_leave(struct ptc_call_store *s, uint32_t thread, uint8_t how,
			 struct ptc_view_moment at, struct ptc_served_call *ret,
			 struct ptc_err *err);

/* End all chunks. All calls have ended. */
int ptc_call_store_finish(struct ptc_call_store *s, struct ptc_err *err);

/* --- reading, behind ptc_call_store_finish --- */

/*
 * Append the calls that began in chunk @i: first the ended ones, in the
 * order of their ends, and then the open ones, the innermost first. So calls of one depth are in
 * their order. Caller frees ret->v.
 */
int ptc_call_store_entries(struct ptc_call_store *s, uint32_t thread, size_t i,
			   struct ptc_call_list *ret, struct ptc_err *err);

/* Append the calls that are open at the begin of chunk @i, the innermost first. */
int ptc_call_store_open(struct ptc_call_store *s, uint32_t thread, size_t i,
			struct ptc_call_list *ret, struct ptc_err *err);

/* Returns the first chunk whose end is at @place or behind; n: none. @axis: 0 insns, 1 time. */
size_t ptc_call_store_at(const struct ptc_stored_thread *t, int axis, uint64_t place);

/* Returns the chunk in which call @number began; n: none. */
size_t ptc_call_store_of_number(const struct ptc_stored_thread *t, uint64_t number);

/*
 * Append call @number and its callers, the innermost first. Nothing is appended if there is no
 * such call.
 */
int ptc_call_store_stack(struct ptc_call_store *s, uint32_t thread, uint64_t number,
			 struct ptc_call_list *ret, struct ptc_err *err);

/* Returns whether a chunk may have an entry of @function. */
bool ptc_call_chunk_may_have(const struct ptc_call_chunk *c, uint32_t function);

#endif
