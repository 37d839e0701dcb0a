/* SPDX-License-Identifier: MIT */
/* Numbers of 7 bits a byte, the lowest first (LEB128). The writer is ptc_put_leb128. */
#ifndef PTC_CLI_SERVE_NUMBER_CODEC_H
#define PTC_CLI_SERVE_NUMBER_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/view/event_encoder.h"

struct ptc_numbers {
	const uint8_t *at, *end; /* borrowed */
	bool failed;		 /* a number was cut, or had more than 64 bits */
};

/* Returns the next number; 0 if there is none, and sets failed. */
static inline uint64_t ptc_numbers_next(struct ptc_numbers *n)
{
	uint64_t v = 0;
	unsigned int shift;

	for (shift = 0; shift < 64 && n->at < n->end; shift += 7) {
		const uint8_t byte = *n->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	n->failed = true;
	return 0;
}

/* A difference of two numbers, which may be negative: small ones are short. */
static inline void ptc_put_difference(struct ptc_buf *b, uint64_t now, uint64_t before)
{
	const uint64_t d = now - before;

	ptc_put_leb128(b, d << 1 ^ (0 - (d >> 63)));
}

/* Returns the number behind @before. */
static inline uint64_t ptc_numbers_behind(struct ptc_numbers *n, uint64_t before)
{
	const uint64_t v = ptc_numbers_next(n);

	return before + (v >> 1 ^ (0 - (v & 1)));
}

#endif
