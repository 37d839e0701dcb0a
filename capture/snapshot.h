/* SPDX-License-Identifier: MIT */
/*
 * Consumer of an AUX ring in overwrite mode (AUX mapped read-only): the producer
 * writes round and round, and when it stops it publishes where in the buffer it is.
 * Nobody says how often it came round, and nothing is given back.
 *
 * What is new since the last snapshot is found by a copy of the bytes in front of the
 * head of that time: doc/adr/0009-how-a-wrap-is-seen.md.
 */
#ifndef PTC_CAPTURE_SNAPSHOT_H
#define PTC_CAPTURE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/writer.h"

#include <linux/perf_event.h>

struct ptc_snapshot {
	struct perf_event_mmap_page *page; /* shared */
	const uint8_t *area;		   /* shared; size bytes */
	size_t size;
	/*
	 * Where the last snapshot ended, in the AUX stream: in the buffer that is pos % size.
	 * A stream in which laps are counted only as far as they are seen.
	 */
	uint64_t pos;
	size_t held;   /* bytes in front of pos that were written: the buffer's size at most */
	uint8_t *mark; /* owned: the mark_len bytes that were in front of pos */
	size_t mark_len;
	/* Bytes that are as they were, so many of them, were not written again: a page; in
	 * tests of small buffers, less. */
	size_t certain;
};

/*
 * aux_offset and aux_size of the page must be those of the mapping at @area (lent), else
 * PTC_E_FORMAT. The first snapshot begins at the page's aux_head; the producer must not
 * run yet.
 */
int ptc_snapshot_init(struct ptc_snapshot *s, struct perf_event_mmap_page *page, const void *area,
		      size_t size, struct ptc_err *err);
void ptc_snapshot_release(struct ptc_snapshot *s);

/*
 * What came since the last call, of that the newest @max bytes (0: all that the buffer
 * holds): seg[0..1]; *ret_start is its position in the AUX stream. It is the end of the last
 * snapshot only if it is certain that nothing is missing in between, and further on
 * otherwise; no byte is given twice. Returns the number of bytes, 0: nothing is new.
 *
 * The producer stands still from before this call until the bytes are done with.
 */
uint64_t ptc_snapshot_read(struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			   uint64_t *ret_start);

/*
 * After ptc_snapshot_read: all that the ring holds, whatever of it was given before, or the newest
 * @max bytes of that (0: all).
 */
uint64_t ptc_snapshot_window(const struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			     uint64_t *ret_start);

#endif
