/* SPDX-License-Identifier: MIT */
/* Checks by build-ids that two recordings are of the same program. */
#ifndef PTC_DECODE_LBR_PROGRAM_MATCH_H
#define PTC_DECODE_LBR_PROGRAM_MATCH_H

#include "decode/lbr/flow_places.h"
#include "ptcap/error.h"

struct ptc_decode;

/*
 * Check that @a and @b have a program in common: the same build-id of the first file that a process
 * mapped after its exec. Sets other in the files of @places that @b has mapped. PTC_E_NOT_EXIST:
 * another program, another build of it, or no build-id is known. PTC_E_FORMAT, PTC_E_NO_MEMORY.
 */
int ptc_program_match(const struct ptc_decode *a, const struct ptc_decode *b,
		      struct ptc_flow_places *places, struct ptc_err *err);

#endif
