/* SPDX-License-Identifier: MIT */
/* Cuts AUXTRACE and AUX records down to a range of the AUX stream. */
#ifndef PTC_AUXTRACE_COPY_TRIM_H
#define PTC_AUXTRACE_COPY_TRIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/cursor.h"
#include "ptcap/record.h"
#include "ptcap/userrec.h"

/* Offsets [from, to) of the AUX stream. */
struct ptc_trim {
	uint64_t from, to;
};

/*
 * Cuts the record @a with the trace @payload to @t. The bytes stay aligned in the file: up to 7
 * bytes on either side stay, too. Returns false if nothing remains.
 */
bool ptc_trim_piece(const struct ptc_trim *t, struct ptc_auxtrace *a, struct ptc_cur *payload);

/* Appends the AUX record @rec, cut to @t. A loss at a cut-off end goes with the end. */
void ptc_trim_aux(const struct ptc_trim *t, const struct ptc_rec *rec, struct ptc_buf *b);

#endif
