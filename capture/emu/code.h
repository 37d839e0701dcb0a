/* SPDX-License-Identifier: MIT */
/* The blocks that QEMU translated, as the trace unit needs them. */
#ifndef PTC_CAPTURE_EMU_CODE_H
#define PTC_CAPTURE_EMU_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "capture/emu/wire.h"

/* A straight line of instructions. */
struct ptc_emu_line {
	uint64_t start;
	uint64_t last;	      /* the last instruction, */
	struct ptc_insn insn; /* what it is, */
	uint64_t end;	      /* and what is behind it */
	uint32_t n;	      /* instructions */
	uint32_t place;	      /* in the arena */
	bool filed;	      /* its bytes are those of the file that `view` is about */
	uint64_t view;	      /* of a mapped file: ptc_map.view; 0: of none */
	uint64_t epoch;	      /* of the process for which that was looked up; 0: not yet */
};

struct ptc_emu_code {
	struct ptc_emu_shared *sh; /* lent */
	uint32_t *index; /* by place: number of the line + 1; mapped, touched where used */
	size_t size;	 /* of the index, bytes */
	struct ptc_emu_line *lines;
	size_t n, cap;
};

/* False: out of memory. @sh must outlive it. */
bool ptc_emu_code_init(struct ptc_emu_code *c, struct ptc_emu_shared *sh);
void ptc_emu_code_release(struct ptc_emu_code *c);

/* Decode the block at @place, which was not seen before. False: out of memory. */
bool ptc_emu_code_add(struct ptc_emu_code *c, uint32_t place);

/* The bytes of @line, from its start to its end. */
const uint8_t *ptc_emu_code_bytes(const struct ptc_emu_code *c, const struct ptc_emu_line *line);

/* How many instructions of @line are before @ip; -1: none begins there. */
int ptc_emu_code_before(const struct ptc_emu_code *c, const struct ptc_emu_line *line, uint64_t ip);

#endif
