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

struct ptc_known_page;

/* A zeroed struct is empty. */
struct ptc_known {
	struct ptc_known_page **pages; /* owned, including the pages; ascending */
	size_t n, cap;
};

enum ptc_known_as {
	PTC_KNOWN_NOT,	 /* some bytes are unknown; the known ones are equal */
	PTC_KNOWN_OTHER, /* some known bytes differ */
	PTC_KNOWN_SAME,
};

void ptc_known_release(struct ptc_known *k);

/* False: out of memory. */
bool ptc_known_copy(struct ptc_known *to, const struct ptc_known *from);

enum ptc_known_as ptc_known_look(const struct ptc_known *k, uint64_t addr, const uint8_t *bytes,
				 size_t len);

/* False: out of memory. */
bool ptc_known_set(struct ptc_known *k, uint64_t addr, const uint8_t *bytes, size_t len);

/* Another mapping has replaced the range: its bytes become unknown. */
void ptc_known_drop(struct ptc_known *k, uint64_t start, uint64_t end);

#endif
