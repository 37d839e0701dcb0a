/* SPDX-License-Identifier: MIT */
/*
 * Notes the code that a saved state refers to. The stack of a crash leads through code that the
 * trace did not reach.
 */
#ifndef PTC_DECODE_ARCHIVE_STATE_CODE_H
#define PTC_DECODE_ARCHIVE_STATE_CODE_H

#include "ptcap/error.h"

struct ptc_decode;

/*
 * Note the code around each saved instruction pointer, and around each address in the saved memory,
 * as used (ptc_used_pages_note). Call it after the decode. Returns 1 if the recording has the
 * state of a process, 0 if not, or a negative code.
 */
int ptc_state_code_note(struct ptc_decode *d, struct ptc_err *err);

#endif
