/* SPDX-License-Identifier: MIT */
/* The names of the threads of a call stream, from the COMM and FORK records of the recording. */
#ifndef PTC_CLI_CALLS_THREAD_NAMES_H
#define PTC_CLI_CALLS_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"

struct ptc_thread_names {
	uint32_t *v; /* owned; by the stream's numbers of threads; number in its names, or 0 */
	size_t n;
};

/*
 * Find the last name of each thread of @s before its end. A new thread has the name of its parent.
 * To be called after the decode. Returns false if out of memory. A damaged record ends
 * the search. The caller releases @n, also after a failure.
 */
bool ptc_thread_names_find(struct ptc_thread_names *n, struct ptc_call_stream *s);
void ptc_thread_names_release(struct ptc_thread_names *n);

/* Returns the name of thread @number, which is to be escaped; "?": not known. Borrowed. */
const char *ptc_thread_name(const struct ptc_thread_names *n, const struct ptc_call_stream *s,
			    uint32_t number);

#endif
