/* SPDX-License-Identifier: MIT */
/*
 * Saves the state of a process that a signal is about to kill, from the plugin's reports. Saves the
 * state at a fault that a process handles, if the process exits with a failure.
 */
#ifndef PTC_CAPTURE_EMU_DEATH_STATE_H
#define PTC_CAPTURE_EMU_DEATH_STATE_H

#include <stdint.h>
#include <sys/user.h>

#include "capture/emu/trace_unit.h"

/*
 * Converts registers to the kernel's structure. @d: the report about the signal, if the thread has
 * got it. NULL: another thread.
 */
struct user_regs_struct ptc_emu_kernel_regs(const struct ptc_emu_regs *r,
					    const struct ptc_emu_death *d);

/* Reads the guest's mappings through thread @tid. None are left if QEMU's process is gone. */
void ptc_emu_state_maps(struct ptc_emu_unit *u, const struct ptc_emu_process *p, pid_t tid,
			struct ptc_maps *ret);

/* @k reports the registers of a thread of its process: struct ptc_emu_regs at @payload. */
void ptc_emu_death_registers(struct ptc_emu_unit *u, struct ptc_emu_task *k,
			     const uint8_t *payload);
/*
 * The process of @k is about to die, and waits: struct ptc_emu_death at @payload. Appends its state
 * to u->states.
 */
void ptc_emu_death_save(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload);

/* The process of @k handles a fault: struct ptc_emu_fault at @payload. Keeps the last. */
void ptc_emu_fault_keep(struct ptc_emu_task *k, const uint8_t *payload);
/*
 * The process of @k is about to exit with a failure, and waits: struct ptc_emu_failed at @payload.
 * Appends the state at its last handled fault to u->states.
 */
void ptc_emu_fault_save(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload);

#endif
