/* SPDX-License-Identifier: MIT */
/* How much memory recordings, and the files that they name, may make libptcap take. */
#ifndef PTCAP_MEMORY_H
#define PTCAP_MEMORY_H

#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sets the memory budget of the process, in bytes. 0 is the default: a quarter of the machine's
 * memory, and at most 4 GiB. Objects that are open already keep what they have. Any thread may call
 * it at any time.
 *
 * All that the process has allocated counts. Over the budget, names, source lines and the like are
 * left out, and a note says so (ptc_decode_note); what cannot be left out is PTC_E_NO_MEMORY.
 * RLIMIT_AS is respected, too.
 */
PTC_API void ptc_memory_set_limit(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
