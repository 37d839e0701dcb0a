/* SPDX-License-Identifier: MIT */
/* Finds the first decodable sync point (PSB) in Intel PT bytes that were copied out of a ring. */
#ifndef PTC_CAPTURE_RINGS_FIRST_PSB_H
#define PTC_CAPTURE_RINGS_FIRST_PSB_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/record/auxtrace_info.h"

struct ptc_begin {
	size_t at;     /* offset of the first suitable PSB; the length if there is none */
	uint64_t time; /* time of that PSB in ns; 0: its PSB+ has no TSC packet */
};

/*
 * Returns the first PSB in @bytes with a time of @since or later. With @since 0 any PSB is
 * suitable, also one without a time. @now is a TSC value read after all of @bytes were written: TSC
 * packets lack the top byte, and @now supplies it.
 */
struct ptc_begin ptc_begin_find(const uint8_t *bytes, size_t len, const struct ptc_time_conv *conv,
				uint64_t now, uint64_t since);

#endif
