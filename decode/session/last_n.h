/* SPDX-License-Identifier: MIT */
/* opts.last: where to begin so that each thread's last branches are decoded, and little else. */
#ifndef PTC_DECODE_SESSION_LAST_N_H
#define PTC_DECODE_SESSION_LAST_N_H

#include <stdint.h>

struct ptc_err;
struct ptc_pass;
struct ptc_tid_counter;

/* Bytes to go back, at most, in each queue. */
#define PTC_LAST_MAX ((uint64_t)4 << 20)

/*
 * Decode the end of the queues, from further and further back, until the starts are known. Sets the
 * start of each queue. @skip: for each thread, how many branches behind its start are not wanted.
 */
int ptc_last_find(struct ptc_pass *p, struct ptc_tid_counter *skip, struct ptc_err *err);

#endif
