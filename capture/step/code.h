/* SPDX-License-Identifier: MIT */
/* What the instruction at an address of the stopped target is, remembered. */
#ifndef PTC_CAPTURE_STEP_CODE_H
#define PTC_CAPTURE_STEP_CODE_H

#include <stdint.h>
#include <sys/types.h>

#include "arch/insn.h"
#include "capture/maps.h"

struct ptc_code {
	struct ptc_code_slot *slots;
	uint32_t generation;
};

/* False when out of memory. */
bool ptc_code_init(struct ptc_code *c);
void ptc_code_release(struct ptc_code *c);

/* The target's mappings changed: forget everything. */
void ptc_code_flush(struct ptc_code *c);

/*
 * The instruction at @ip of the stopped thread @tid. Code in writable mappings
 * (of @maps) is read anew each time. Bytes that cannot be read, or are no
 * instruction, give len 0 and PTC_KIND_NONE. Lent until the next call.
 */
const struct ptc_insn *ptc_code_at(struct ptc_code *c, const struct ptc_maps *maps, pid_t tid,
				   uint64_t ip);

/* Read up to @len bytes of the stopped target; returns how many could be read. */
size_t ptc_code_read(pid_t tid, uint64_t addr, uint8_t *out, size_t len);

#endif
