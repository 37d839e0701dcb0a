/* SPDX-License-Identifier: MIT */
/* The blocks that QEMU translated, decoded for the trace unit. */
#ifndef PTC_CAPTURE_EMU_BLOCK_TABLE_H
#define PTC_CAPTURE_EMU_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "capture/emu/shm_protocol.h"

/* A straight line of instructions, in one cache line. */
struct ptc_emu_line {
	uint64_t start;
	uint64_t last;	      /* address of the last instruction */
	struct ptc_insn insn; /* the last instruction */
	uint32_t n : 30;      /* number of instructions */
	uint32_t filed : 1;   /* the file that `view` identifies has the same bytes */
	uint32_t told : 1;    /* the recording has its bytes, from the file or as a record */
	uint32_t place;	      /* place in the arena */
	uint64_t view;	      /* identifies a mapped file: ptc_map.view; 0: no file */
	uint64_t epoch; /* epoch of the process at the check of the other members; 0: not checked */
};

/* Returns the address after the last instruction. The length of an invalid one is 0. */
static inline uint64_t ptc_emu_line_end(const struct ptc_emu_line *line)
{
	return line->last + line->insn.len;
}

struct ptc_emu_code {
	struct ptc_emu_shared *sh; /* borrowed */
	uint32_t *index; /* index of the line + 1 for each place; mapped, touched on use */
	size_t size;	 /* of the index in bytes */
	uint32_t places; /* number of entries; larger words of a thread are no places */
	struct ptc_emu_line *lines;
	size_t n, cap;
};

/* Returns false if out of memory. @sh must outlive @c. */
bool ptc_emu_code_init(struct ptc_emu_code *c, struct ptc_emu_shared *sh);
void ptc_emu_code_release(struct ptc_emu_code *c);

/* Decodes the block at @place, which is new. Returns false if out of memory. */
bool ptc_emu_code_add(struct ptc_emu_code *c, uint32_t place);

/* Returns the bytes of @line, from its start to its end. */
const uint8_t *ptc_emu_code_bytes(const struct ptc_emu_code *c, const struct ptc_emu_line *line);

/* Returns the number of instructions of @line before @ip; -1: no instruction begins at @ip. */
int ptc_emu_code_before(const struct ptc_emu_code *c, const struct ptc_emu_line *line, uint64_t ip);

#endif
