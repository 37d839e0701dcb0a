/* SPDX-License-Identifier: MIT */
/*
 * Code bytes of a process that the recording's reader was told of, because they
 * are in no file, or not what the file has.
 */
#ifndef PTC_CAPTURE_EMU_KNOWN_H
#define PTC_CAPTURE_EMU_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_known_page;

/* A struct of zeros knows nothing. */
struct ptc_known {
	struct ptc_known_page **pages; /* owned, each; ascending */
	size_t n, cap;
};

enum ptc_known_as {
	PTC_KNOWN_NOT,	 /* some of the bytes are not known; the others are the same */
	PTC_KNOWN_OTHER, /* some are known to be others */
	PTC_KNOWN_SAME,
};

void ptc_known_release(struct ptc_known *k);

/* False: out of memory. */
bool ptc_known_copy(struct ptc_known *to, const struct ptc_known *from);

enum ptc_known_as ptc_known_look(const struct ptc_known *k, uint64_t addr, const uint8_t *bytes,
				 size_t len);

/* False: out of memory. */
bool ptc_known_set(struct ptc_known *k, uint64_t addr, const uint8_t *bytes, size_t len);

/* Something else is mapped there. */
void ptc_known_drop(struct ptc_known *k, uint64_t start, uint64_t end);

#endif
