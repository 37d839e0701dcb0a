/* SPDX-License-Identifier: MIT */
/*
 * Consumer of an AUX ring in overwrite mode (AUX area mapped read-only). The producer overwrites
 * the oldest bytes, and publishes its offset in the buffer when it stops. The number of laps is
 * unknown, and the consumer publishes no tail.
 *
 * New bytes are found with a copy of the bytes before the last head:
 * doc/adr/0009-how-a-wrap-is-seen.md.
 */
#ifndef PTC_CAPTURE_RINGS_AUX_SNAPSHOT_H
#define PTC_CAPTURE_RINGS_AUX_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/writer/writer.h"

#include <linux/perf_event.h>

struct ptc_snapshot {
	struct perf_event_mmap_page *page; /* shared with the producer */
	const uint8_t *area;		   /* shared with the producer; size bytes */
	size_t size;
	/*
	 * The end of the last snapshot, as a position in the AUX stream. Its offset in the buffer
	 * is pos % size. The stream counts only those laps that were detected.
	 */
	uint64_t pos;
	size_t held;   /* number of valid bytes before pos, at most the buffer size */
	uint8_t *mark; /* owned: copy of the mark_len bytes before pos */
	size_t mark_len;
	/*
	 * If this many bytes are unchanged, they were not written again: one page. Tests with small
	 * buffers use less.
	 */
	size_t certain;
};

/*
 * Initialises at the page's aux_head. The producer must not run yet. @area is borrowed.
 * PTC_E_FORMAT: the page's aux_offset or aux_size is not valid for the mapping at @area.
 */
int ptc_snapshot_init(struct ptc_snapshot *s, struct perf_event_mmap_page *page, const void *area,
		      size_t size, struct ptc_err *err);
void ptc_snapshot_release(struct ptc_snapshot *s);

/*
 * Returns the number of bytes written since the last call, as seg[0..1]. 0: nothing is new. @max
 * limits them to the newest @max bytes; 0: all that the buffer holds. *ret_start is their position
 * in the AUX stream. It equals the end of the last snapshot only if no byte can be missing in
 * between. Otherwise it lies further on. No byte is returned twice.
 *
 * The producer must stand still from before this call until the caller has used the bytes.
 */
uint64_t ptc_snapshot_read(struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			   uint64_t *ret_start);

/*
 * Call after ptc_snapshot_read. Returns all that the ring holds, including bytes returned before.
 * @max limits it to the newest @max bytes; 0: all.
 */
uint64_t ptc_snapshot_window(const struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			     uint64_t *ret_start);

#endif
