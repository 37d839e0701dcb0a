/* SPDX-License-Identifier: MIT */
/* Helpers of the record printers: named values, and lists of entries. */
#ifndef PTC_CLI_DUMP_DUMP_EMIT_H
#define PTC_CLI_DUMP_DUMP_EMIT_H

#include "cli/common/field_writer.h"
#include "cli/dump/abi_names.h"

/* Print bits by name: "A|B|0x100", or "0". */
void ptc_emit_bits(struct ptc_emit *e, const char *name, uint64_t bits, const struct ptc_names *t);
/* Print a value by its name, or as a number. */
void ptc_emit_named(struct ptc_emit *e, const char *name, uint64_t v, const struct ptc_names *t);

/* Print addresses, with the markers PERF_CONTEXT_* by name. */
void ptc_emit_callchain(struct ptc_emit *e, struct ptc_cur ips);

/* Print entries: [a=1 b=2] [a=3 b=4] in text, a list of objects in JSON. */
void ptc_emit_entries(struct ptc_emit *e, const char *name);
void ptc_emit_entry(struct ptc_emit *e); /* closed by ptc_emit_end */
void ptc_emit_entries_end(struct ptc_emit *e);

#endif
