/* SPDX-License-Identifier: MIT */
/* The EVENT_DESC feature and the ID_INDEX record of a recording, with one more event. */
#ifndef PTC_AUXTRACE_COPY_ADDED_EVENT_H
#define PTC_AUXTRACE_COPY_ADDED_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "base/buf.h"
#include "base/cursor.h"

struct ptc_added {
	const struct perf_event_attr *attr;
	const char *name;
	uint64_t id;
};

/*
 * Append EVENT_DESC with the entries of @section and then @a. Returns false, with @b unchanged, if
 * @section is damaged or its attrs have another size.
 */
bool ptc_added_event_desc(struct ptc_buf *b, struct ptc_cur section, const struct ptc_added *a);

/* Append an ID_INDEX record that contains only @a. */
void ptc_added_id_index(struct ptc_buf *b, const struct ptc_added *a);

#endif
