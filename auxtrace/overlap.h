/* SPDX-License-Identifier: MIT */
/* Two pieces of one ring that may hold the same bytes: snapshots, samples. */
#ifndef PTC_AUXTRACE_OVERLAP_H
#define PTC_AUXTRACE_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes a writer may have padded a piece with, to a multiple of 8. */
enum { PTC_PADDING_MAX = 7 };

/* @len without the padding that may be at its end: zeros, 7 at most. */
size_t ptc_without_padding(const uint8_t *bytes, size_t len);

/*
 * Does @b, from its first PSB on, begin with what @a ends with? Then the two
 * are one stream: the first *ret_a bytes of @a (its padding left out), then
 * @b from *ret_b on, which may be its end. Where a PSB's TSC is not among the
 * common bytes, 64 of them are wanted, for short ones may be alike by chance.
 * Takes time in proportion to the shorter of the two, whatever is in them.
 */
bool ptc_overlap(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, size_t *ret_a,
		 size_t *ret_b);

#endif
