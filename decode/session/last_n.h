/* SPDX-License-Identifier: MIT */
/* opts.last: where to begin so that each thread's last branches are decoded, and little else. */
#ifndef PTC_DECODE_SESSION_LAST_N_H
#define PTC_DECODE_SESSION_LAST_N_H

#include <stdint.h>

struct ptc_decode;
struct ptc_err;

/* Bytes to go back, at most, in each queue. */
#define PTC_LAST_MAX ((uint64_t)4 << 20)

/*
 * Decode the end of @d's queues, from further and further back, until the starts are known. Sets
 * the start of each queue, and d->pick.skip.
 */
int ptc_last_find(struct ptc_decode *d, struct ptc_err *err);

#endif
