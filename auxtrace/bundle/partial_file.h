/* SPDX-License-Identifier: MIT */
/*
 * Selects the parts of a file that a bundle holds. The member has the length of the file, and zeros
 * elsewhere.
 */
#ifndef PTC_AUXTRACE_BUNDLE_PARTIAL_FILE_H
#define PTC_AUXTRACE_BUNDLE_PARTIAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes [off, end) of the file. */
struct ptc_partial_range {
	uint64_t off, end;
};

/* A little-endian number that replaces four bytes of the file. */
struct ptc_partial_patch {
	uint64_t off;
	uint32_t value;
};

/* Zeroed: nothing of the file. */
struct ptc_partial {
	struct ptc_partial_range *ranges; /* owned; after ptc_partial_finish ascending, disjoint */
	size_t n, cap;
	struct ptc_partial_patch *patches; /* owned */
	size_t npatches, patches_cap;
};

/* Free @p, which is from malloc. NULL is fine. */
void ptc_partial_free(struct ptc_partial *p);

/* Add [off, off + len). The parts may overlap. Returns false if out of memory. */
bool ptc_partial_add(struct ptc_partial *p, uint64_t off, uint64_t len);

/* Replace four bytes at @off, which are in an added part. Returns false if out of memory. */
bool ptc_partial_patch(struct ptc_partial *p, uint64_t off, uint32_t value);

/* Call after the last part was added. */
void ptc_partial_finish(struct ptc_partial *p);

/* Change the @n bytes at @off of the file to the bytes of the member. */
void ptc_partial_apply(const struct ptc_partial *p, uint64_t off, uint8_t *bytes, size_t n);

#endif
