/* SPDX-License-Identifier: MIT */
/* Numbers as hex digits, many of them: all sixteen digits at once, without a branch. */
#ifndef PTC_CLI_HEX_H
#define PTC_CLI_HEX_H

#include <stdint.h>
#include <string.h>

enum { PTC_HEX_ROOM = 16 }; /* what ptc_put_hex may write, however short the number is */

typedef int8_t ptc_hex_digits __attribute__((vector_size(16)));
typedef uint64_t ptc_hex_words __attribute__((vector_size(16)));

/* @v in lower case without leading zeros at @at, where there is PTC_HEX_ROOM; its end. */
static inline char *ptc_put_hex(char *at, uint64_t v)
{
	const unsigned int skip = (unsigned int)__builtin_clzll(v | 1) / 4;
	/* Its first digit goes to the front; zeros behind the last one are not part of it. */
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
