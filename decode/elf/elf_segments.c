/* SPDX-License-Identifier: MIT */
#include "decode/elf/elf_segments.h"

#include <gelf.h>

static const uint64_t PAGE = 4096;

/* Gets the next loaded segment of @elf, from index *@i on, and moves *@i behind it. */
static bool next_load(Elf *elf, size_t *i, GElf_Phdr *ret)
{
	size_t n = 0;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	while (*i < n)
		if (gelf_getphdr(elf, (int)(*i)++, ret) && ret->p_type == PT_LOAD)
			return true;
	return false;
}

bool ptc_segments_address(Elf *elf, uint64_t off, uint64_t *ret)
{
	bool found = false;
	size_t i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph)) {
		if (off < ph.p_offset || off - ph.p_offset >= ph.p_filesz)
			continue;
		if (found && !(ph.p_flags & PF_X))
			continue;
		*ret = off - ph.p_offset + ph.p_vaddr;
		found = true;
		if (ph.p_flags & PF_X)
			break;
	}
	return found;
}

bool ptc_segments_has_code(Elf *elf, uint64_t addr)
{
	size_t i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph))
		if (ph.p_flags & PF_X && addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			return true;
	return false;
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(PAGE - 1);
}

bool ptc_segments_bases(Elf *elf, uint64_t *ret_file, uint64_t *ret_code)
{
	bool first = true;
	size_t i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph)) {
		if (first)
			*ret_file = ph.p_vaddr - ph.p_offset;
		first = false;
		*ret_code = page_of(ph.p_vaddr);
		if (ph.p_flags & PF_X)
			return true;
	}
	return false;
}

/* Returns where the pages of @ph end in the file. The kernel maps whole pages. */
static uint64_t pages_end(const GElf_Phdr *ph)
{
	return page_of(ph->p_offset + ph->p_filesz + PAGE - 1);
}

/* Returns true if @m begins in the pages of @ph. */
static bool is_of(const struct ptc_mapping *m, const GElf_Phdr *ph)
{
	return ph->p_filesz && m->off >= page_of(ph->p_offset) && m->off < pages_end(ph);
}

/* When a file is loaded, its first mapping is recorded with the length of all mappings together. */
static bool is_longer(const struct ptc_mapping *m, const GElf_Phdr *ph)
{
	return m->end - m->start > pages_end(ph) - m->off;
}

static uint64_t bias_by(const struct ptc_mapping *m, const GElf_Phdr *ph)
{
	return m->start - m->off - (ph->p_vaddr - ph->p_offset);
}

/* Counts the @maps that lie where @bias puts a segment with the same right to execute. */
static size_t count_fitting(Elf *elf, const struct ptc_mapping *maps, size_t n, uint64_t bias)
{
	size_t fit = 0, k;

	for (k = 0; k < n; k++) {
		bool fits = false;
		size_t i = 0;
		GElf_Phdr ph;

		while (!fits && next_load(elf, &i, &ph))
			fits = !(ph.p_flags & PF_X) == !maps[k].executable &&
			       is_of(&maps[k], &ph) && bias_by(&maps[k], &ph) == bias;
		fit += fits;
	}
	return fit;
}

/* Tries the segments with @flags. Returns how many mappings agree with *@ret; 0: none. */
static size_t find_bias(Elf *elf, const struct ptc_mapping *maps, size_t n, size_t which,
			uint32_t flags, uint64_t *ret)
{
	size_t best = 0, i = 0;
	GElf_Phdr ph;

	while (next_load(elf, &i, &ph)) {
		size_t fit;

		if ((ph.p_flags & flags) != flags || !is_of(&maps[which], &ph))
			continue;
		fit = 1u + !is_longer(&maps[which], &ph) +
		      count_fitting(elf, maps, n, bias_by(&maps[which], &ph));
		if (fit <= best)
			continue;
		best = fit;
		*ret = bias_by(&maps[which], &ph);
	}
	return best;
}

bool ptc_segments_bias(Elf *elf, const struct ptc_mapping *maps, size_t n, size_t which,
		       uint64_t *ret)
{
	return find_bias(elf, maps, n, which, PF_X, ret) || find_bias(elf, maps, n, which, 0, ret);
}
