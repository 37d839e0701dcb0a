/* SPDX-License-Identifier: MIT */
/* opts.last: where to begin so that each thread's last transfers are decoded, and little else. */
#ifndef PTC_DECODE_LAST_H
#define PTC_DECODE_LAST_H

#include <stdint.h>

struct ptc_decode;
struct ptc_err;

/* How far back at most; of each queue. */
#define PTC_LAST_MAX ((uint64_t)4 << 20)

/*
 * Decode the end of @d's lanes, from further and further back, until it is
 * known where they must begin: sets their start, and d->pick.skip.
 */
int ptc_last_find(struct ptc_decode *d, struct ptc_err *err);

#endif
