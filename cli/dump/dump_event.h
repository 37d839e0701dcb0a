/* SPDX-License-Identifier: MIT */
/* The events of a recording, for `ptcap dump`. */
#ifndef PTC_CLI_DUMP_DUMP_EVENT_H
#define PTC_CLI_DUMP_DUMP_EVENT_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "cli/common/field_writer.h"
#include "ptcap/file.h"

/* Print a line for event @i. */
void ptc_dump_event(struct ptc_emit *e, const struct ptc_file *f, size_t i);

/* Print all non-zero fields, and always type, size and config, by their names in perf_event.h. */
void ptc_dump_attr(struct ptc_emit *e, const struct perf_event_attr *a);

#endif
