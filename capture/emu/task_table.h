/* SPDX-License-Identifier: MIT */
/* The tables of the trace unit: guest processes, and threads by their slots. */
#ifndef PTC_CAPTURE_EMU_TASK_TABLE_H
#define PTC_CAPTURE_EMU_TASK_TABLE_H

#include "capture/emu/trace_unit.h"

/* --- processes --- */

/* Returns process @pid; NULL: none. */
struct ptc_emu_process *ptc_emu_unit_process(struct ptc_emu_unit *u, pid_t pid);
/* NULL: out of memory. */
struct ptc_emu_process *ptc_emu_unit_add_process(struct ptc_emu_unit *u, pid_t pid);
/* @p becomes a new process, or executes a new program: all knowledge about it is dropped. */
void ptc_emu_unit_renew_process(struct ptc_emu_unit *u, struct ptc_emu_process *p);
bool ptc_emu_process_has_ended(const struct ptc_emu_process *p);
void ptc_emu_process_free(struct ptc_emu_process *p);

/* --- threads --- */

/* Adds the thread of @slot, on the CPU with the fewest threads. NULL: out of memory. */
struct ptc_emu_task *ptc_emu_unit_add_task(struct ptc_emu_unit *u, uint32_t slot);
/* Assigns @k to @c. */
void ptc_emu_task_place(struct ptc_emu_task *k, struct ptc_emu_cpu *c);
/* Frees u->tasks[@i], and its slot for another thread. */
void ptc_emu_unit_forget_task(struct ptc_emu_unit *u, size_t i);
/* Frees the memory of @k only. */
void ptc_emu_task_free(struct ptc_emu_task *k);

#endif
