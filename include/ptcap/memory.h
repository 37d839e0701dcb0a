/* SPDX-License-Identifier: MIT */
/* Limit of the memory that libptcap allocates for recordings and for files that recordings name. */
#ifndef PTCAP_MEMORY_H
#define PTCAP_MEMORY_H

#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Set the memory budget of the process, in bytes. 0: the default, a quarter of the machine's memory
 * but at most 4 GiB. Open objects keep what they have allocated. Thread-safe.
 *
 * All memory that the process allocated counts. Over the budget, optional data such as names and
 * source lines are left out, and ptc_decode_note reports it. An allocation that cannot be left out
 * fails with PTC_E_NO_MEMORY. RLIMIT_AS is respected too.
 */
PTC_API void ptc_memory_set_limit(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
