/* SPDX-License-Identifier: MIT */
/* Fast hex output: all sixteen digits at once, without branches. */
#ifndef PTC_CLI_COMMON_HEX_H
#define PTC_CLI_COMMON_HEX_H

#include <stdint.h>
#include <string.h>

enum { PTC_HEX_ROOM = 16 }; /* ptc_put_hex always writes this many bytes */

typedef int8_t ptc_hex_digits __attribute__((vector_size(16)));
typedef uint64_t ptc_hex_words __attribute__((vector_size(16)));

/*
 * Write @v in lower case without leading zeros to @at, which has PTC_HEX_ROOM bytes. Returns the
 * end.
 */
static inline char *ptc_put_hex(char *at, uint64_t v)
{
	const unsigned int skip = (unsigned int)__builtin_clzll(v | 1) / 4;
	/* Move the first digit to the front. Bytes after the last digit are ignored. */
	const uint64_t bytes = __builtin_bswap64(v << 4 * skip);
	const ptc_hex_words high = { bytes >> 4 & 0x0f0f0f0f0f0f0f0f, 0 };
	const ptc_hex_words low = { bytes & 0x0f0f0f0f0f0f0f0f, 0 };
	ptc_hex_digits d = __builtin_shufflevector((ptc_hex_digits)high, (ptc_hex_digits)low, 0, 16,
						   1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);

	d += '0' + ((d > 9) & ('a' - '0' - 10));
	memcpy(at, &d, sizeof(d));
	return at + 16 - skip;
}

#endif
