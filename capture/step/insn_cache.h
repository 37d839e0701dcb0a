/* SPDX-License-Identifier: MIT */
/* Decodes and caches the instructions of a stopped target. */
#ifndef PTC_CAPTURE_STEP_INSN_CACHE_H
#define PTC_CAPTURE_STEP_INSN_CACHE_H

#include <stdint.h>
#include <sys/types.h>

#include "arch/insn.h"
#include "capture/host/maps.h"
#include "capture/step/code_shadow.h"

struct ptc_code {
	struct ptc_code_slot *slots;
	uint32_t generation;
	struct ptc_insn scratch;
	struct ptc_saved saved; /* the code that the recording has */
};

/* False: out of memory. */
bool ptc_code_init(struct ptc_code *c);
void ptc_code_release(struct ptc_code *c);

/* The target's mappings or code have changed: all cached instructions become invalid. */
void ptc_code_flush(struct ptc_code *c);

/*
 * Returns the instruction at @ip of the stopped thread @tid, borrowed until the next call.
 * Unreadable bytes and invalid instructions give len 0 and PTC_KIND_NONE.
 */
const struct ptc_insn *ptc_code_at(struct ptc_code *c, pid_t tid, uint64_t ip);

/*
 * Same as ptc_code_at, for the instruction that is about to run. First saves its bytes through @io,
 * if the recording lacks them. Code that can change without a system call is read anew each time:
 * @maps shows it as writable, shared, or in a deleted file. NULL: out of memory.
 */
const struct ptc_insn *ptc_code_fetch(struct ptc_code *c, const struct ptc_maps *maps, pid_t tid,
				      uint64_t ip, const struct ptc_saved_io *io);

/* Reads up to @len bytes of the stopped target. Returns the number of bytes read. */
size_t ptc_code_read(pid_t tid, uint64_t addr, uint8_t *out, size_t len);

#endif
