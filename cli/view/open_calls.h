/* SPDX-License-Identifier: MIT */
/* Counts how many calls of each function are open in each thread. So recursion is recognised. */
#ifndef PTC_CLI_VIEW_OPEN_CALLS_H
#define PTC_CLI_VIEW_OPEN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/number_index.h"

/* Initialize with zeros. */
struct ptc_open_calls {
	struct ptc_number_index index;
	struct ptc_open_call *v; /* owned */
	size_t n, cap;
};

void ptc_open_calls_release(struct ptc_open_calls *o);

/*
 * Count a call of @function in @thread. *ret_outermost: no other one is open. Returns false if out
 * of memory.
 */
bool ptc_open_calls_add(struct ptc_open_calls *o, uint32_t thread, uint32_t function,
			bool *ret_outermost);
/* Count the end of a call that was added. */
void ptc_open_calls_remove(struct ptc_open_calls *o, uint32_t thread, uint32_t function);

#endif
