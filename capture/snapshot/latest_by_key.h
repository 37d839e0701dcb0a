/* SPDX-License-Identifier: MIT */
/* Keeps the newest record for each key. */
#ifndef PTC_CAPTURE_SNAPSHOT_LATEST_BY_KEY_H
#define PTC_CAPTURE_SNAPSHOT_LATEST_BY_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct ptc_latest_item {
	uint64_t key;
	struct ptc_buf rec; /* owned; a whole record */
};

struct ptc_latest {
	struct ptc_latest_item *items; /* owned; ascending by key */
	size_t n, cap;
};

/* Copies @rec, a whole record. False: out of memory. */
bool ptc_latest_set(struct ptc_latest *l, uint64_t key, const struct ptc_buf *rec);
void ptc_latest_drop(struct ptc_latest *l, uint64_t key);
void ptc_latest_put(const struct ptc_latest *l, struct ptc_buf *b);
void ptc_latest_release(struct ptc_latest *l);

#endif
