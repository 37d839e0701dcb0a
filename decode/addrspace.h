/* SPDX-License-Identifier: MIT */
/* What one process has mapped: ranges of addresses -> code file and offset. */
#ifndef PTC_DECODE_ADDRSPACE_H
#define PTC_DECODE_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_codefile;
struct pt_image;

struct ptc_range {
	uint64_t start, end; /* [start, end) */
	uint64_t off;	     /* of start, in the file */
	struct ptc_codefile *file;
};

struct ptc_addrspace {
	struct ptc_range *ranges; /* owned; ascending, disjoint */
	size_t n, cap;
	uint64_t version;	/* changes with every change */
	struct pt_image *image; /* owned; the same for libipt, made by ptc_ipt_image */
	uint64_t image_version;
};

void ptc_addrspace_release(struct ptc_addrspace *as);

/* Forget all ranges. */
void ptc_addrspace_clear(struct ptc_addrspace *as);

/*
 * Map [start, start + len) to @file at @off (file may be without bytes: then
 * there is no code). What was there before is replaced. False: out of memory.
 */
bool ptc_addrspace_map(struct ptc_addrspace *as, uint64_t start, uint64_t len, uint64_t off,
		       struct ptc_codefile *file);

/* Make @as a copy of @from. False: out of memory. */
bool ptc_addrspace_copy(struct ptc_addrspace *as, const struct ptc_addrspace *from);

/* The range that holds @ip, or NULL. */
const struct ptc_range *ptc_addrspace_find(const struct ptc_addrspace *as, uint64_t ip);

/* Read up to @len bytes of code at @ip, across adjacent ranges. Returns how many there were. */
size_t ptc_addrspace_read(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len);

/* Is there code at @ip? */
bool ptc_addrspace_has(const struct ptc_addrspace *as, uint64_t ip);

#endif
