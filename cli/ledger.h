/* SPDX-License-Identifier: MIT */
/* The ledger of a recording, gathered and as tables. */
#ifndef PTC_CLI_LEDGER_H
#define PTC_CLI_LEDGER_H

#include <stdio.h>

#include "ptcap/ledger.h"

struct ptc_ledger_list {
	struct ptc_ledger_ring *rings; /* owned */
	struct ptc_ledger_event *events;
	size_t nrings, nevents;
	struct ptc_ledger_clock first, last; /* zeros: there is none */
	struct ptc_ledger_source source;     /* the same */
};

/* Add what @rec has of it, if it is part of one. 0, PTC_E_FORMAT or PTC_E_NO_MEMORY. */
int ptc_ledger_list_add(struct ptc_ledger_list *l, const struct ptc_rec *rec, struct ptc_err *err);
void ptc_ledger_list_release(struct ptc_ledger_list *l);

/*
 * A line for each of @n rings or events, @max at most, below the names of the numbers, each
 * line behind @prefix. Numbers that are 0 everywhere are left out.
 */
void ptc_ledger_show_rings(FILE *out, const char *prefix, const struct ptc_ledger_ring *rings,
			   size_t n, size_t max);
void ptc_ledger_show_events(FILE *out, const char *prefix, const struct ptc_ledger_event *events,
			    size_t n, size_t max);

#endif
