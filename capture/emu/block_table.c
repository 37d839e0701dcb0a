/* SPDX-License-Identifier: MIT */
#include "capture/emu/block_table.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/vec.h"

enum { PAGE = 4096 };

static_assert(sizeof(struct ptc_emu_line) == PTC_VEC_LINE, "ptc_vec_reserve_lines");

bool ptc_emu_code_init(struct ptc_emu_code *c, struct ptc_emu_shared *sh)
{
	void *map;

	*c = (struct ptc_emu_code){ .sh = sh };
	c->places = (uint32_t)(sh->arena_size / PTC_EMU_UNIT);
	c->size = (size_t)c->places * sizeof(*c->index);
	map = mmap(NULL, c->size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map != MAP_FAILED)
		c->index = map;
	return c->index;
}

void ptc_emu_code_release(struct ptc_emu_code *c)
{
	if (c->index)
		(void)munmap(c->index, c->size);
	free(c->lines);
	*c = (struct ptc_emu_code){ .sh = NULL };
}

static bool decode_block_insn(const struct ptc_emu_block *b, uint64_t ip, struct ptc_insn *ret)
{
	const uint8_t *bytes = (const uint8_t *)(b + 1);
	const uint64_t at = ip - b->start;

	return at < b->len &&
	       ptc_insn_decode(PTC_MODE_64, bytes + at, b->len - at, ip, ret) == PTC_INSN_OK;
}

/*
 * Decodes the block. QEMU reports an instruction that crosses into the next page, but then drops it
 * from the block, unless it is the only one. An invalid instruction faults, and is the last.
 */
static void decode_block(const struct ptc_emu_block *b, struct ptc_emu_line *line)
{
	const uint64_t page_end = (b->start | (PAGE - 1)) + 1;
	/* An instruction has at least a byte. A guest may have written another number. */
	const uint32_t insns = b->insns < PTC_EMU_BLOCK_MAX ? b->insns : PTC_EMU_BLOCK_MAX;
	uint64_t ip = b->start;

	for (line->n = 0; line->n < insns; line->n++) {
		struct ptc_insn insn;

		if (!decode_block_insn(b, ip, &insn))
			insn = (struct ptc_insn){ .kind = PTC_KIND_NONE, .cond = PTC_COND_NONE };
		if (line->n && ip + insn.len > page_end)
			break;
		line->last = ip;
		line->insn = insn;
		ip += insn.len;
	}
}

bool ptc_emu_code_add(struct ptc_emu_code *c, uint32_t place)
{
	const struct ptc_emu_block *b = ptc_emu_block(c->sh, place);
	struct ptc_emu_line *line;

	if (!ptc_vec_reserve_lines((void **)&c->lines, &c->cap, c->n + 1))
		return false;
	line = &c->lines[c->n++];
	*line = (struct ptc_emu_line){ .start = b->start, .last = b->start, .place = place };
	decode_block(b, line);
	c->index[place] = (uint32_t)c->n;
	return true;
}

const uint8_t *ptc_emu_code_bytes(const struct ptc_emu_code *c, const struct ptc_emu_line *line)
{
	return (const uint8_t *)(ptc_emu_block(c->sh, line->place) + 1);
}

int ptc_emu_code_before(const struct ptc_emu_code *c, const struct ptc_emu_line *line, uint64_t ip)
{
	const struct ptc_emu_block *b = ptc_emu_block(c->sh, line->place);
	uint64_t at = line->start;
	struct ptc_insn insn;
	uint32_t n;

	for (n = 0; n < line->n && at != ip; n++) {
		if (!decode_block_insn(b, at, &insn))
			return -1;
		at += insn.len;
	}
	return n < line->n ? (int)n : -1;
}
