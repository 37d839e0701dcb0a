/* SPDX-License-Identifier: MIT */
/*
 * What one process has mapped: ranges of addresses -> code file and offset. The
 * kernel is an address space too, behind that of each process.
 */
#ifndef PTC_DECODE_ADDRSPACE_H
#define PTC_DECODE_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/ranges.h"

struct ptc_codefile;

/* What a change was of: the code of [start, end). */
struct ptc_change {
	uint64_t version; /* that it made; 0: none */
	uint64_t start, end;
};

enum { PTC_CHANGES = 16 };

/* Where the image of an address space is among those of ptc_ipt_image. */
struct ptc_ipt_key {
	uint64_t serial; /* 0: nowhere. Not the slot's: it is gone */
	unsigned int slot;
};

struct ptc_addrspace {
	struct ptc_ranges ranges;  /* owned */
	struct ptc_ranges patches; /* owned; bytes that are there whatever the files say */
	uint64_t version;	   /* counts changes; see ptc_addrspace_version */
	uint64_t state;	  /* without its kernel: the same number, the same code and names; 0: not
			     known */
	uint64_t *states; /* lent, may be NULL: numbers that there were */
	struct ptc_change changes[PTC_CHANGES]; /* the last ones, by version */
	uint64_t layout;			/* those that libipt must be told of */
	struct ptc_addrspace *kernel; /* lent; what is in the upper half of all; NULL: nothing */
	struct ptc_ipt_key images[PTC_MODES + 1]; /* for libipt, by mode, and of none */
	uint64_t view; /* of what never changes: a number, not 0; the same number, the same code */
};

void ptc_addrspace_release(struct ptc_addrspace *as);

/* These change with every change, and with those that libipt must be told of, the kernel's too. */
static inline uint64_t ptc_addrspace_version(const struct ptc_addrspace *as)
{
	return as->version + (as->kernel ? as->kernel->version : 0);
}

static inline uint64_t ptc_addrspace_layout(const struct ptc_addrspace *as)
{
	return as->layout + (as->kernel ? as->kernel->layout : 0);
}

/* What made @version of @as, without its kernel; NULL: that is forgotten. */
static inline const struct ptc_change *ptc_addrspace_change(const struct ptc_addrspace *as,
							    uint64_t version)
{
	const struct ptc_change *c = &as->changes[version % PTC_CHANGES];

	return c->version == version ? c : NULL;
}

/* Forget all ranges. */
void ptc_addrspace_clear(struct ptc_addrspace *as);

/*
 * Map [start, start + len) to @file at @off (file may be without bytes: then
 * there is no code), of which that much is read. What was there before, patches
 * too, is replaced. False: out of memory.
 */
bool ptc_addrspace_map(struct ptc_addrspace *as, uint64_t start, uint64_t len, uint64_t off,
		       struct ptc_codefile *file);

/*
 * From now on @bytes (lent: they must outlive @as and its copies) are at
 * @addr, whatever the files say. False as above.
 */
bool ptc_addrspace_patch(struct ptc_addrspace *as, uint64_t addr, const uint8_t *bytes, size_t len);

/* The code is as it was, and has other names: of @as's numbers only its state changes. */
void ptc_addrspace_rename(struct ptc_addrspace *as);

/* Make @as a copy of @from: both share their mappings until one of them changes. */
void ptc_addrspace_copy(struct ptc_addrspace *as, const struct ptc_addrspace *from);

/* The range that holds @ip, or NULL. */
const struct ptc_range *ptc_addrspace_find(const struct ptc_addrspace *as, uint64_t ip);

/* Read up to @len bytes of code at @ip, across adjacent ranges. Returns how many there were. */
size_t ptc_addrspace_read(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len);

/* Is there code at @ip? */
bool ptc_addrspace_has(const struct ptc_addrspace *as, uint64_t ip);

#endif
