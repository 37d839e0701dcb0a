/* SPDX-License-Identifier: MIT */
/* What the instruction at an address of the stopped target is, remembered. */
#ifndef PTC_CAPTURE_STEP_CODE_H
#define PTC_CAPTURE_STEP_CODE_H

#include <stdint.h>
#include <sys/types.h>

#include "arch/insn.h"
#include "capture/maps.h"
#include "capture/step/saved.h"

struct ptc_code {
	struct ptc_code_slot *slots;
	uint32_t generation;
	struct ptc_insn scratch;
	struct ptc_saved saved; /* what of the code the recording has */
};

/* False when out of memory. */
bool ptc_code_init(struct ptc_code *c);
void ptc_code_release(struct ptc_code *c);

/* The target's mappings or its code changed: look at everything again. */
void ptc_code_flush(struct ptc_code *c);

/*
 * The instruction at @ip of the stopped thread @tid. Bytes that cannot be
 * read, or are no instruction, give len 0 and PTC_KIND_NONE. Lent until the
 * next call.
 */
const struct ptc_insn *ptc_code_at(struct ptc_code *c, pid_t tid, uint64_t ip);

/*
 * The same for the instruction that is about to run: what the recording does
 * not have of its bytes is saved through @io first. Code that can change without a
 * system call (by @maps: writable, shared, in a file without a name) is read
 * anew each time. NULL: out of memory.
 */
const struct ptc_insn *ptc_code_fetch(struct ptc_code *c, const struct ptc_maps *maps, pid_t tid,
				      uint64_t ip, const struct ptc_saved_io *io);

/* Read up to @len bytes of the stopped target; returns how many could be read. */
size_t ptc_code_read(pid_t tid, uint64_t addr, uint8_t *out, size_t len);

#endif
