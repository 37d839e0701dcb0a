/* SPDX-License-Identifier: MIT */
/* Writing the ledger: the inverse of the parser in ptcap/ledger.h. */
#ifndef PTC_AUXTRACE_RECORD_LEDGER_H
#define PTC_AUXTRACE_RECORD_LEDGER_H

#include "base/buf.h"
#include "ptcap/ledger.h"
#include "ptcap/sideband.h"

/* Append these entries, in as many records as needed. */
void ptc_ledger_put_rings(struct ptc_buf *b, const struct ptc_ledger_ring *rings, size_t n);
void ptc_ledger_put_events(struct ptc_buf *b, const struct ptc_ledger_event *events, size_t n);
void ptc_ledger_put_clocks(struct ptc_buf *b, const struct ptc_ledger_clock *clocks, size_t n);
void ptc_ledger_put_source(struct ptc_buf *b, const struct ptc_ledger_source *source);
void ptc_ledger_put_processors(struct ptc_buf *b, const struct ptc_ledger_processor *processors,
			       size_t n);

/* Add the numbers of @from to @to, without idx, cpu and tid, which identify the ring. */
void ptc_ledger_add(struct ptc_ledger_ring *to, const struct ptc_ledger_ring *from);

/* Count the loss that @sb reports, if any. */
void ptc_ledger_note(struct ptc_ledger_ring *r, const struct ptc_sb *sb);

#endif
