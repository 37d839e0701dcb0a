/* SPDX-License-Identifier: MIT */
/*
 * Consumer of a perf data ring: whole records, across the wrap at any byte.
 * Layout and protocol: struct perf_event_mmap_page (vendored header).
 */
#ifndef PTC_CAPTURE_RING_H
#define PTC_CAPTURE_RING_H

#include <stdint.h>

#include "auxtrace/writer.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

/* One data ring. The mapping is the source's; the ring only reads it. */
struct ptc_ring {
	struct perf_event_mmap_page *page; /* shared */
	const uint8_t *data;		   /* shared; data_size bytes */
	size_t size;
	uint64_t tail;	/* consumer's own; what was given back */
	uint64_t begin; /* where reading started */
};

/*
 * A ring whose first page is @page. data_offset and data_size are read from
 * the page where the kernel gives them (4.1 and later), else @data_off and
 * @size are used. PTC_E_FORMAT if they contradict each other. Reading starts at
 * the page's data_tail.
 */
int ptc_ring_init(struct ptc_ring *r, struct perf_event_mmap_page *page, size_t data_off,
		  size_t size, struct ptc_err *err);

/*
 * What can be read now: seg[0..1], one stream of whole records; *ret_end is
 * the position behind it, for ptc_ring_done. Returns the number of bytes
 * (0: nothing), or PTC_E_FORMAT when the head makes no sense or a record size
 * is impossible (the ring cannot be followed any more).
 */
int64_t ptc_ring_read(const struct ptc_ring *r, struct ptc_seg seg[2], uint64_t *ret_end,
		      struct ptc_err *err);

/* Give everything before @end back to the producer; call when the bytes are safe. */
void ptc_ring_done(struct ptc_ring *r, uint64_t end);

/* How far the producer came since reading started: bytes. */
uint64_t ptc_ring_made(const struct ptc_ring *r);

/*
 * Copy the record at offset @pos of the stream seg[0..1] into @out
 * (PTC_REC_MAX + 8 bytes) if it is there whole. Returns its size, or 0 at the
 * end (or where the bytes are no record).
 */
size_t ptc_ring_record(const struct ptc_seg seg[2], size_t pos, uint8_t *out);

#endif
