/* SPDX-License-Identifier: MIT */
/* Between unit.c (whose words are read, and when) and path.c (what the words mean). */
#ifndef PTC_CAPTURE_EMU_PATH_H
#define PTC_CAPTURE_EMU_PATH_H

#include "capture/emu/unit.h"

/* Read the words of @k before @head, from k->pos on; returns how many those were. */
uint64_t ptc_emu_path_read(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint64_t head);

/* @k is stopped where it is: an asynchronous exit, if its trace is on. */
void ptc_emu_path_interrupt(struct ptc_emu_unit *u, struct ptc_emu_task *k);

/* Nothing more comes from @k. */
void ptc_emu_path_end(struct ptc_emu_unit *u, struct ptc_emu_task *k);

/* --- of unit.c --- */

/* @k has its CPU. */
void ptc_emu_unit_give(struct ptc_emu_unit *u, struct ptc_emu_task *k);
/* @k has none. */
void ptc_emu_unit_take(struct ptc_emu_unit *u, struct ptc_emu_task *k);
/*
 * Something is to be told of the process of @k: what it runs on other CPUs is stopped, and
 * goes on with a time behind that, as after the interrupt that a kernel sends.
 */
void ptc_emu_unit_interrupt_others(struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/* The records of its CPU to come are about @k. */
void ptc_emu_unit_speak_of(const struct ptc_emu_task *k);
/* How far the words of @k can be read now. */
uint64_t ptc_emu_unit_head(const struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/* What the other threads of its process wrote before this moment is read. */
void ptc_emu_unit_catch_up(struct ptc_emu_unit *u, const struct ptc_emu_task *k);
/*
 * @k begins, of process @pid: what it came to be by is read before. The slot of who was forked may
 * be one behind that of the program which that has executed since, or of a thread of it.
 */
void ptc_emu_unit_meet(struct ptc_emu_unit *u, const struct ptc_emu_task *k, pid_t pid);
/* The process @pid; NULL: there is none. */
struct ptc_emu_process *ptc_emu_unit_process(struct ptc_emu_unit *u, pid_t pid);
/* NULL: out of memory. */
struct ptc_emu_process *ptc_emu_unit_add_process(struct ptc_emu_unit *u, pid_t pid);
/* @p is to be another process, or the same with another program: nothing is known of it. */
void ptc_emu_unit_renew_process(struct ptc_emu_unit *u, struct ptc_emu_process *p);

#endif
