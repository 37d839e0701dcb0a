/* SPDX-License-Identifier: MIT */
/* The memory of a ring pair, laid out as the kernel maps it. */
#ifndef PTC_TESTS_UNIT_CAPTURE_FAKE_RING_H
#define PTC_TESTS_UNIT_CAPTURE_FAKE_RING_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "capture/source/source.h"

/* Returns the ring of queue and CPU @i, without a descriptor. The caller frees its page and aux. */
static inline struct ptc_source_ring fake_ring(size_t i, size_t data_size, size_t aux_size)
{
	enum { PAGE = 4096 };
	struct perf_event_mmap_page *page = calloc(1, PAGE + data_size);
	void *aux = calloc(1, aux_size);

	cr_assert(page && aux);
	page->data_offset = PAGE;
	page->data_size = data_size;
	page->aux_offset = PAGE + data_size;
	page->aux_size = aux_size;
	return (struct ptc_source_ring){ .page = page,
					 .data_off = PAGE,
					 .data_size = data_size,
					 .aux = aux,
					 .aux_size = aux_size,
					 .fd = -1,
					 .idx = (uint32_t)i,
					 .cpu = (int32_t)i,
					 .tid = -1 };
}

#endif
