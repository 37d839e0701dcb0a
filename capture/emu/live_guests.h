/* SPDX-License-Identifier: MIT */
/*
 * Lets all guest threads stand still for a moment, and saves the states of their processes. A
 * thread stops before a block, or stays in its system call. QEMU then has all its registers in
 * memory.
 */
#ifndef PTC_CAPTURE_EMU_LIVE_GUESTS_H
#define PTC_CAPTURE_EMU_LIVE_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/emu/trace_unit.h"

/* Asks all guest threads to stand still. */
void ptc_emu_live_stop(struct ptc_emu_shared *sh);
/* Lets them run on. */
void ptc_emu_live_resume(struct ptc_emu_shared *sh);

/*
 * Returns true if all known threads stand still, except those of processes that die. The words of
 * these threads must be read meanwhile: a thread may wait for that. @looks: a thread that a signal
 * or a tracer has stopped (state T or t) stands still, too. This reads /proc.
 */
bool ptc_emu_live_is_still(const struct ptc_emu_unit *u, bool looks);

/*
 * Replaces @u->lives by the states of all processes that do not die, at most PTC_COPY_PROCESSES. A
 * thread that does not stand still has no registers, nor has a thread that SIGSTOP stopped in
 * translated code. @since_ns: since when they stand still, by CLOCK_MONOTONIC. Sets @u->no_memory.
 */
void ptc_emu_live_save(struct ptc_emu_unit *u, uint64_t since_ns);

#endif
