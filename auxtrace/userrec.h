/* SPDX-License-Identifier: MIT */
/* Writing the records that perf itself makes: what ptcap/userrec.h reads. */
#ifndef PTC_AUXTRACE_USERREC_H
#define PTC_AUXTRACE_USERREC_H

#include "auxtrace/attr.h"
#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/cpumap.h"
#include "auxtrace/feature.h"
#include "auxtrace/record.h"
#include "auxtrace/schedstat.h"
#include "ptcap/userrec.h"

/*
 * Append @u as a whole record: the inverse of parse. What follows a record
 * (ptc_rec_trailing) is the caller's to write. Counts are taken from the parts
 * (@n is not used). What is too long for its field, or lent in parts of a
 * wrong size, fails @b.
 */
void ptc_user_put(struct ptc_buf *b, const struct ptc_user *u);

/* Append one entry as it stands in its record; those of guests stand together, behind the others.
 */
void ptc_id_index_put_entry(struct ptc_buf *b, const struct ptc_id_index_entry *e);
void ptc_id_index_put_guest(struct ptc_buf *b, const struct ptc_id_index_entry *e);

/*
 * Is @rec a record of ptcap's own, a HEADER_EVENT_TYPE with @event_id? Returns 1, and *@ret is what
 * follows the name, lent by @rec; 0 if it is another record; or PTC_E_FORMAT.
 */
int ptc_user_own(const struct ptc_rec *rec, uint64_t event_id, struct ptc_cur *ret,
		 struct ptc_err *err);

#endif
