/* SPDX-License-Identifier: MIT */
/*
 * Code bytes of a process that the recording already contains, because no file has them or the
 * file's bytes differ.
 */
#ifndef PTC_CAPTURE_EMU_RECORDED_CODE_H
#define PTC_CAPTURE_EMU_RECORDED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_queue_contexts_page;

/* A zeroed struct is empty. */
struct ptc_queue_contexts {
	struct ptc_queue_contexts_page **pages; /* owned, including the pages; ascending */
	size_t n, cap;
};

enum ptc_queue_contexts_as {
	PTC_QUEUE_CONTEXTS_NOT,	  /* some bytes are unknown; the known ones are equal */
	PTC_QUEUE_CONTEXTS_OTHER, /* some known bytes differ */
	PTC_QUEUE_CONTEXTS_SAME,
};

void ptc_queue_contexts_release(struct ptc_queue_contexts *k);

/* False: out of memory. */
bool ptc_queue_contexts_copy(struct ptc_queue_contexts *to, const struct ptc_queue_contexts *from);

enum ptc_queue_contexts_as ptc_queue_contexts_look(const struct ptc_queue_contexts *k,
						   uint64_t addr, const uint8_t *bytes, size_t len);

/* False: out of memory. */
bool ptc_queue_contexts_set(struct ptc_queue_contexts *k, uint64_t addr, const uint8_t *bytes,
			    size_t len);

/* Another mapping has replaced the range: its bytes become unknown. */
void ptc_queue_contexts_drop(struct ptc_queue_contexts *k, uint64_t start, uint64_t end);

#endif
