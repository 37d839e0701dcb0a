/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the code at addresses (ptc_decode_code_part). The last parts are remembered, so most
 * addresses need no call of the library.
 */
#ifndef PTC_CLI_COMMON_CODE_PARTS_H
#define PTC_CLI_COMMON_CODE_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ptcap/decode.h"

enum { PTC_CODE_PARTS = 4 };

/* Zeroed: nothing is known. */
struct ptc_code_parts {
	uint64_t state; /* ptc_decode_code_state of pid */
	int32_t pid;
	bool known;
	/* Valid while the state is state_of_parts. end 0: none */
	struct ptc_code_part parts[PTC_CODE_PARTS];
	uint64_t state_of_parts;
	unsigned int next; /* place of the next part */
	/* Lent; to be locked for calls of the library. NULL: there is one thread only. */
	pthread_mutex_t *lock;
};

/* To be called at the start of each on_items: mappings may have changed. */
static inline void ptc_code_parts_begin(struct ptc_code_parts *p)
{
	p->known = false;
}

/* Returns ptc_decode_code_state of @it. */
uint64_t ptc_code_parts_state(struct ptc_code_parts *p, const struct ptc_decode *d,
			      const struct ptc_item *it);

/*
 * Returns the part with @ip in the process of @it, valid until the next call of a function with @p.
 */
const struct ptc_code_part *ptc_code_parts_at(struct ptc_code_parts *p, struct ptc_decode *d,
					      const struct ptc_item *it, uint64_t ip);

/* Is @ip in @part? */
static inline bool ptc_is_in_part(const struct ptc_code_part *part, uint64_t ip)
{
	return ip - part->start < part->end - part->start;
}

#endif
