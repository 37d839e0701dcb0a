/* SPDX-License-Identifier: MIT */
/* The ledger of a recording: collected from records, and printed as tables. */
#ifndef PTC_CLI_COMMON_LEDGER_H
#define PTC_CLI_COMMON_LEDGER_H

#include <stdio.h>

#include "ptcap/ledger.h"

struct ptc_ledger_list {
	struct ptc_ledger_ring *rings; /* owned */
	struct ptc_ledger_event *events;
	size_t nrings, nevents;
	struct ptc_ledger_clock first, last; /* zeros: none */
	struct ptc_ledger_source source;     /* zeros: none */
};

/*
 * Add the entries of @rec, if it is part of a ledger. Returns 0, PTC_E_FORMAT or PTC_E_NO_MEMORY.
 */
int ptc_ledger_list_add(struct ptc_ledger_list *l, const struct ptc_rec *rec, struct ptc_err *err);
void ptc_ledger_list_release(struct ptc_ledger_list *l);

/*
 * Print a table of @n rings or events, at most @max rows, with @prefix before each line. Columns
 * that are 0 everywhere are left out.
 */
void ptc_ledger_show_rings(FILE *out, const char *prefix, const struct ptc_ledger_ring *rings,
			   size_t n, size_t max);
void ptc_ledger_show_events(FILE *out, const char *prefix, const struct ptc_ledger_event *events,
			    size_t n, size_t max);

#endif
