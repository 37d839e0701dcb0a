/* SPDX-License-Identifier: MIT */
/* What the printers of records share: values by name, and entries of which a record has many. */
#ifndef PTC_CLI_DUMP_EMIT_H
#define PTC_CLI_DUMP_EMIT_H

#include "auxtrace/names.h"
#include "emit.h"

/* "A|B|0x100", or "0": bits by their names. */
void ptc_emit_bits(struct ptc_emit *e, const char *name, uint64_t bits, const struct ptc_names *t);
/* A value by its name, or as a number. */
void ptc_emit_named(struct ptc_emit *e, const char *name, uint64_t v, const struct ptc_names *t);

/* Addresses, the marks PERF_CONTEXT_* among them by name. */
void ptc_emit_callchain(struct ptc_emit *e, struct ptc_cur ips);

/* Entries: [a=1 b=2] [a=3 b=4] as text, a list of objects in JSON. */
void ptc_emit_entries(struct ptc_emit *e, const char *name);
void ptc_emit_entry(struct ptc_emit *e); /* closed by ptc_emit_end */
void ptc_emit_entries_end(struct ptc_emit *e);

#endif
