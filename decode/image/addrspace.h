/* SPDX-License-Identifier: MIT */
/*
 * Mappings of one process: address ranges, and the code files and offsets behind them. The kernel
 * has an address space of its own, to which the address space of each process refers.
 */
#ifndef PTC_DECODE_IMAGE_ADDRSPACE_H
#define PTC_DECODE_IMAGE_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/image/range_tree.h"

struct ptc_codefile;

/* The address range [start, end) whose code a change replaced. */
struct ptc_change {
	uint64_t version; /* created by this change; 0: empty slot */
	uint64_t start, end;
};

enum { PTC_CHANGES = 16 };

/* Handle of an image in struct ptc_ipt_images. */
struct ptc_ipt_key {
	uint64_t serial; /* 0: no image. If the slot has another serial, the image is gone. */
	unsigned int slot;
};

struct ptc_addrspace {
	struct ptc_ranges ranges;  /* owned */
	struct ptc_ranges patches; /* owned; bytes that override the files' bytes */
	uint64_t version;	   /* counts changes; see ptc_addrspace_version */
	/* without its kernel: equal numbers mean equal code and names; 0: unknown */
	uint64_t state;
	uint64_t *states; /* lent, may be NULL: the counter that state numbers come from */
	struct ptc_change changes[PTC_CHANGES]; /* the last changes, at version % PTC_CHANGES */
	/* counts the changes that invalidate libipt's images */
	uint64_t layout;
	struct ptc_addrspace *kernel; /* lent; the upper half of all processes; NULL: none */
	/* for libipt: by mode, and without a mode */
	struct ptc_ipt_key images[PTC_MODES + 1];
	/* ID of an immutable view: equal IDs mean equal code; 0: this one may change */
	uint64_t view;
};

void ptc_addrspace_release(struct ptc_addrspace *as);

/* Return counters that include the kernel's: all changes, and changes that invalidate images. */
static inline uint64_t ptc_addrspace_version(const struct ptc_addrspace *as)
{
	return as->version + (as->kernel ? as->kernel->version : 0);
}

static inline uint64_t ptc_addrspace_layout(const struct ptc_addrspace *as)
{
	return as->layout + (as->kernel ? as->kernel->layout : 0);
}

/* Returns the change that created @version of @as, without its kernel. NULL: forgotten. */
static inline const struct ptc_change *ptc_addrspace_change(const struct ptc_addrspace *as,
							    uint64_t version)
{
	const struct ptc_change *c = &as->changes[version % PTC_CHANGES];

	return c->version == version ? c : NULL;
}

/* Remove all ranges and patches. */
void ptc_addrspace_clear(struct ptc_addrspace *as);

/*
 * Map [start, start + len) to @file at @off. Replaces older mappings and patches there. Reads the
 * bytes of that range. A @file without bytes means that the range has no code. Returns false if out
 * of memory.
 */
bool ptc_addrspace_map(struct ptc_addrspace *as, uint64_t start, uint64_t len, uint64_t off,
		       struct ptc_codefile *file);

/*
 * Override the bytes at @addr with @bytes (lent: they must outlive @as and its copies). Returns
 * false if out of memory.
 */
bool ptc_addrspace_patch(struct ptc_addrspace *as, uint64_t addr, const uint8_t *bytes, size_t len);

/* Record new names for unchanged code: only the state number of @as changes. */
void ptc_addrspace_rename(struct ptc_addrspace *as);

/* Make @as a copy of @from. Both share their mappings until one of them changes. */
void ptc_addrspace_copy(struct ptc_addrspace *as, const struct ptc_addrspace *from);

/* Returns the range that contains @ip, in @as or its kernel, or NULL. */
const struct ptc_range *ptc_addrspace_find(const struct ptc_addrspace *as, uint64_t ip);

/*
 * Read up to @len bytes of code at @ip, across adjacent ranges. Returns the number of bytes read.
 */
size_t ptc_addrspace_read(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len);

/* Is there code at @ip? */
bool ptc_addrspace_has(const struct ptc_addrspace *as, uint64_t ip);

#endif
