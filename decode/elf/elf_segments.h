/* SPDX-License-Identifier: MIT */
/*
 * Converts file offsets in an ELF file to addresses. Linkers such as lld and mold let segments
 * share pages of the file, so the offset of a page does not identify the segment. Code that runs is
 * in an executable segment.
 */
#ifndef PTC_DECODE_ELF_ELF_SEGMENTS_H
#define PTC_DECODE_ELF_ELF_SEGMENTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of a file: whole pages. */
struct ptc_mapping {
	uint64_t start, end, off; /* off: of start, in the file */
	bool executable;
};

/* Gets the virtual address of the code at file offset @off. Returns false if no segment has it. */
bool ptc_segments_address(Elf *elf, uint64_t off, uint64_t *ret);

/*
 * Gets the virtual address where the file begins, according to its first segment, and the page
 * where the first executable segment begins. Returns false if no segment is executable.
 */
bool ptc_segments_bases(Elf *elf, uint64_t *ret_file, uint64_t *ret_code);

/* Returns true if an executable segment with file contents holds the virtual address @addr. */
bool ptc_segments_has_code(Elf *elf, uint64_t addr);

/*
 * Gets the difference between addresses in memory and addresses in @elf, for the code in
 * @maps[@which]. @maps are the mappings of that file in one process. If the pages of the code fit
 * several segments, the other mappings decide. Returns false if no segment fits.
 */
bool ptc_segments_bias(Elf *elf, const struct ptc_mapping *maps, size_t n, size_t which,
		       uint64_t *ret);

#endif
