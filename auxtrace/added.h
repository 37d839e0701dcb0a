/* SPDX-License-Identifier: MIT */
/* What a recording says of its events, with one more event. */
#ifndef PTC_AUXTRACE_ADDED_H
#define PTC_AUXTRACE_ADDED_H

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
 * The EVENT_DESC @section and @a behind it. False, and @b is as it was: it is damaged, or
 * its attrs are of another size.
 */
bool ptc_added_event_desc(struct ptc_buf *b, struct ptc_cur section, const struct ptc_added *a);

/* An ID_INDEX record of @a alone. */
void ptc_added_id_index(struct ptc_buf *b, const struct ptc_added *a);

#endif
