/* SPDX-License-Identifier: MIT */
/*
 * From offsets in an ELF file to addresses. Linkers let segments share pages of the file (lld,
 * mold): the offset of a page says nothing about the segment. What runs is in a segment that may be
 * executed.
 */
#ifndef PTC_DECODE_SEGMENTS_H
#define PTC_DECODE_SEGMENTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of a file, with whole pages. */
struct ptc_mapping {
	uint64_t start, end, off; /* off: of start, in the file */
	bool executable;
};

/* The virtual address of the code at file offset @off. False: no segment has that offset. */
bool ptc_segments_address(Elf *elf, uint64_t off, uint64_t *ret);

/* Is there code of the file at the virtual address @addr? */
bool ptc_segments_has_code(Elf *elf, uint64_t addr);

/*
 * Finds the difference between addresses in memory and those in @elf for the code in @maps[@which].
 * @maps are the mappings of that file in one process: the others decide where the code's own pages
 * fit several segments. False: no segment fits.
 */
bool ptc_segments_bias(Elf *elf, const struct ptc_mapping *maps, size_t n, size_t which,
		       uint64_t *ret);

#endif
