/* SPDX-License-Identifier: MIT */
/* Writing the records that perf itself makes: the inverse of the parsers in ptcap/userrec.h. */
#ifndef PTC_AUXTRACE_RECORD_USERREC_H
#define PTC_AUXTRACE_RECORD_USERREC_H

#include "auxtrace/record/attr.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/cpumap.h"
#include "auxtrace/record/record.h"
#include "auxtrace/record/schedstat.h"
#include "ptcap/userrec.h"

/*
 * Append @u as a whole record: the inverse of ptc_user_parse. The caller writes the bytes after a
 * record (ptc_rec_trailing). Counts come from the lengths of the parts; @n fields are ignored. Data
 * too long for their field, or borrowed parts of a wrong size, set @b to failed.
 */
void ptc_user_put(struct ptc_buf *b, const struct ptc_user *u);

/*
 * Append one entry in the layout of its record. Entries for guests follow after all other entries.
 */
void ptc_id_index_put_entry(struct ptc_buf *b, const struct ptc_id_index_entry *e);
void ptc_id_index_put_guest(struct ptc_buf *b, const struct ptc_id_index_entry *e);

/*
 * Parse @rec if it is one of ptcap's own records, a HEADER_EVENT_TYPE with @event_id. Returns 1,
 * with the bytes after the name in *@ret, borrowed from @rec. Returns 0 for any other record, or
 * PTC_E_FORMAT.
 */
int ptc_user_own(const struct ptc_rec *rec, uint64_t event_id, struct ptc_cur *ret,
		 struct ptc_err *err);

#endif
