/* SPDX-License-Identifier: MIT */
/*
 * Shared by trace_unit.c (scheduling of the threads' words) and word_reader.c (meaning of the
 * words).
 */
#ifndef PTC_CAPTURE_EMU_WORD_READER_H
#define PTC_CAPTURE_EMU_WORD_READER_H

#include "capture/emu/trace_unit.h"

/* Reads the words of @k from k->pos up to @head. Returns their number. */
uint64_t ptc_emu_path_read(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint64_t head);

/* Stops @k at its current position: an asynchronous exit, if its trace is on. */
void ptc_emu_path_interrupt(struct ptc_emu_unit *u, struct ptc_emu_task *k);

/* @k has ended and writes no more words. */
void ptc_emu_path_end(struct ptc_emu_unit *u, struct ptc_emu_task *k);

/* --- functions of trace_unit.c --- */

/* Gives @k its CPU. */
void ptc_emu_unit_give(struct ptc_emu_unit *u, struct ptc_emu_task *k);
/* Takes the CPU from @k, if @k runs. */
void ptc_emu_unit_take(struct ptc_emu_unit *u, struct ptc_emu_task *k);
/*
 * A record about the process of @k follows. Stops the trace of its other threads on other CPUs.
 * They continue with a later time, as after the kernel's interprocessor interrupt.
 */
void ptc_emu_unit_interrupt_others(struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/* Makes @k the subject of the following records of its CPU. */
void ptc_emu_unit_speak_of(const struct ptc_emu_task *k);
/* Returns the position up to which the words of @k can be read. */
uint64_t ptc_emu_unit_head(const struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/* Reads all words that other threads of the process wrote before this moment. */
void ptc_emu_unit_catch_up(struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/* The same, also for threads that no word was read from so far. Does nothing without a process. */
void ptc_emu_unit_read_process(struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/*
 * @k begins, in process @pid. First reads the words of earlier slots of that process. A forked
 * thread's slot may be read after that of the program it has executed since, or after that of its
 * threads.
 */
void ptc_emu_unit_meet(struct ptc_emu_unit *u, const struct ptc_emu_task *k, pid_t pid);

#endif
