/* SPDX-License-Identifier: MIT */
/*
 * Consumer of an AUX ring in full-trace mode (AUX area mapped PROT_WRITE). Head and tail are
 * monotonic. The tail moves on page boundaries only: with an unaligned tail the kernel's pt.c may
 * overwrite unread bytes.
 */
#ifndef PTC_CAPTURE_RINGS_AUX_H
#define PTC_CAPTURE_RINGS_AUX_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/writer/writer.h"
#include "capture/rings/window.h"

#include <linux/perf_event.h>

enum { PTC_AUX_PAGE = 4096 }; /* the tail moves in units of this */

struct ptc_aux {
	struct perf_event_mmap_page *page; /* shared with the producer */
	const uint8_t *area;		   /* shared with the producer; size bytes */
	size_t size;
	uint64_t pos;	/* the consumer's own: all bytes before pos were read */
	uint64_t tail;	/* the consumer's own: the tail last published, at most pos */
	uint64_t lost;	/* bytes overwritten before they were read */
	uint64_t begin; /* pos when reading started */
};

/*
 * Sets @a up to read from the page's aux_tail on. On failure PTC_E_FORMAT: the page's aux_offset is
 * no page boundary, or its aux_size is not the size @size of the mapping at @area.
 */
int ptc_aux_init(struct ptc_aux *a, struct perf_event_mmap_page *page, const void *area,
		 size_t size, struct ptc_err *err);

/*
 * Returns the number of readable bytes, [pos, head), as seg[0..1]. *ret_start is their position in
 * the AUX stream. If bytes were overwritten before they were read, pos skips them and a->lost
 * counts them once. The bytes stay valid until ptc_aux_done.
 */
uint64_t ptc_aux_read(struct ptc_aux *a, struct ptc_seg seg[2], uint64_t *ret_start);

/*
 * Moves pos to @end: the caller has saved all bytes before @end. Publishes a tail that is rounded
 * down to whole pages. With @all, at the end of the recording, the tail is not rounded.
 */
void ptc_aux_done(struct ptc_aux *a, uint64_t end, bool all);

/* Returns the number of bytes that the producer has written since reading started. */
uint64_t ptc_aux_made(const struct ptc_aux *a);

#endif
