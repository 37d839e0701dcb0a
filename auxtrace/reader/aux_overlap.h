/* SPDX-License-Identifier: MIT */
/* Overlap of two chunks of one ring that may contain the same bytes: snapshots, samples. */
#ifndef PTC_AUXTRACE_READER_AUX_OVERLAP_H
#define PTC_AUXTRACE_READER_AUX_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum of padding that a writer adds to a chunk, up to a multiple of 8. */
enum { PTC_PADDING_MAX = 7 };

/* Returns @len without the padding at the end: zeros, at most 7. */
size_t ptc_without_padding(const uint8_t *bytes, size_t len);

/*
 * Return whether @b, from its first PSB on, begins with the bytes that @a ends with. The two are
 * then one stream: the first *ret_a bytes of @a (without padding), followed by @b from *ret_b on,
 * which may be its end. If the common bytes contain no TSC of a PSB, at least 64 are required,
 * because short matches can be accidental. Time is linear in the shorter of the two for any input.
 */
bool ptc_overlap(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, size_t *ret_a,
		 size_t *ret_b);

#endif
