/* SPDX-License-Identifier: MIT */
/*
 * Consumer of a perf data ring. It reads whole records, which may wrap at any byte. Layout and
 * protocol: struct perf_event_mmap_page (vendored header).
 */
#ifndef PTC_CAPTURE_RINGS_RING_H
#define PTC_CAPTURE_RINGS_RING_H

#include <stdint.h>

#include "auxtrace/writer/writer.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

/* One data ring. The source owns the mapping. */
struct ptc_ring {
	struct perf_event_mmap_page *page; /* shared with the producer */
	const uint8_t *data;		   /* shared with the producer; size bytes */
	size_t size;
	uint64_t tail;	/* the consumer's own: the tail last published */
	uint64_t begin; /* tail when reading started */
};

/*
 * Initialises a ring whose first page is @page. Reading starts at the page's data_tail.
 * PTC_E_FORMAT: the page gives data_offset and data_size (Linux 4.1 and later), and they differ
 * from @data_off and @size.
 */
int ptc_ring_init(struct ptc_ring *r, struct perf_event_mmap_page *page, size_t data_off,
		  size_t size, struct ptc_err *err);

/*
 * Returns the number of readable bytes as seg[0..1], one stream of whole records. 0: nothing to
 * read. *ret_end is the position after it, for ptc_ring_done. PTC_E_FORMAT: the head is invalid or
 * a record has an impossible size. The ring then cannot be read any further.
 */
int64_t ptc_ring_read(const struct ptc_ring *r, struct ptc_seg seg[2], uint64_t *ret_end,
		      struct ptc_err *err);

/* Publishes @end as the tail. Call it when all bytes before @end are saved. */
void ptc_ring_done(struct ptc_ring *r, uint64_t end);

/* Returns the number of bytes that the producer has written since reading started. */
uint64_t ptc_ring_made(const struct ptc_ring *r);

/*
 * Copies the record at offset @pos of the stream seg[0..1] into @out (PTC_REC_MAX + 8 bytes).
 * Returns its size. Returns 0 at the end, or if there is no whole record at @pos.
 */
size_t ptc_ring_record(const struct ptc_seg seg[2], size_t pos, uint8_t *out);

#endif
