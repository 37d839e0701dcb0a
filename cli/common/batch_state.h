/* SPDX-License-Identifier: MIT */
/* ptc_decode_code_state, looked up once for each process and call of on_items. */
#ifndef PTC_CLI_COMMON_BATCH_STATE_H
#define PTC_CLI_COMMON_BATCH_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* Zeroed: nothing is known. */
struct ptc_batch_state {
	uint64_t state; /* of pid */
	int32_t pid;
	bool known;
};

/* To be called at the start of each on_items: mappings may have changed. */
static inline void ptc_batch_state_begin(struct ptc_batch_state *b)
{
	b->known = false;
}

/* Returns ptc_decode_code_state of @it. */
static inline uint64_t ptc_batch_state_of(struct ptc_batch_state *b, const struct ptc_decode *d,
					  const struct ptc_item *it)
{
	if (!b->known || b->pid != it->pid) {
		b->state = ptc_decode_code_state(d, it);
		b->pid = it->pid;
		b->known = true;
	}
	return b->state;
}

#endif
