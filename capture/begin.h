/* SPDX-License-Identifier: MIT */
/* Where a piece of Intel PT's trace that was cut out of a ring can begin to be decoded. */
#ifndef PTC_CAPTURE_BEGIN_H
#define PTC_CAPTURE_BEGIN_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/pt_info.h"

struct ptc_begin {
	size_t at;     /* offset of the first PSB that will do; the length if there is none */
	uint64_t time; /* of that PSB, in ns; 0: it does not say */
};

/*
 * The first PSB of @bytes whose time is not before @since. @now is a TSC from behind all of them,
 * whose top byte packets do not have. @since 0: any PSB will do, one without a time, too.
 */
struct ptc_begin ptc_begin_find(const uint8_t *bytes, size_t len, const struct ptc_time_conv *conv,
				uint64_t now, uint64_t since);

#endif
