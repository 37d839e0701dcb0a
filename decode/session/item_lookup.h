/* SPDX-License-Identifier: MIT */
/*
 * Looks up what an item of a decode is about: its process, and the names, source lines and state of
 * the code. ptcap/decode.h declares most of its functions.
 */
#ifndef PTC_DECODE_SESSION_ITEM_LOOKUP_H
#define PTC_DECODE_SESSION_ITEM_LOOKUP_H

#include <stdint.h>

struct ptc_decode;
struct ptc_decode_input;
struct ptc_proc;

/* Returns the process as the sideband records applied so far made it. NULL: it is not known. */
struct ptc_proc *ptc_decode_process(const struct ptc_decode *d, int32_t pid);

/* Returns what @d decodes. */
const struct ptc_decode_input *ptc_decode_input(const struct ptc_decode *d);

#endif
