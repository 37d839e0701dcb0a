/* SPDX-License-Identifier: MIT */
/* The state of a dead process from its core dump. */
#ifndef PTC_DECODE_DEAD_CORE_H
#define PTC_DECODE_DEAD_CORE_H

#include "decode/dead.h"

struct ptc_core;

/*
 * Fill @d, which is zeroed, from @c. There are no names of threads, and no time. Released whether
 * this fails or not. PTC_E_FORMAT: it has no threads, or no process. PTC_E_NO_MEMORY.
 */
int ptc_dead_of_core(struct ptc_dead *d, const struct ptc_core *c, struct ptc_err *err);

#endif
