/* SPDX-License-Identifier: MIT */
/*
 * An order of the functions of a stream that depends on their names only, not on their numbers. So
 * an output in this order is the same for any number of jobs and shards.
 */
#ifndef PTC_CLI_CALLS_FUNCTION_ORDER_H
#define PTC_CLI_CALLS_FUNCTION_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"

struct ptc_function_order {
	const struct ptc_names *names; /* of the stream, borrowed */
	uint32_t *at;		       /* owned; numbers of all functions, in order */
	uint32_t *rank;		       /* owned; the index in at, by the function's number */
};

/*
 * Orders by file, name, offset and build-id. A function without a name comes first in its file.
 * Returns false if out of memory. Caller releases @o then, too.
 */
bool ptc_function_order_init(struct ptc_function_order *o, const struct ptc_call_stream *s);
void ptc_function_order_release(struct ptc_function_order *o);

#endif
