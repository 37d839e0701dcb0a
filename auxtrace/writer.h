/* SPDX-License-Identifier: MIT */
/* Public: ptcap/writer.h. */
#ifndef PTC_AUXTRACE_WRITER_H
#define PTC_AUXTRACE_WRITER_H

#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/feature.h"
#include "ptcap/writer.h"

/*
 * The @event-th event that was declared has these ids in the end: those that it had, and behind
 * them others, of events that were opened meanwhile. Not in pipe mode, where its ids have
 * gone out: PTC_E_UNSUPPORTED.
 */
int ptc_writer_late_ids(struct ptc_writer *w, size_t event, const uint64_t *ids, size_t nids,
			struct ptc_err *err);

#endif
