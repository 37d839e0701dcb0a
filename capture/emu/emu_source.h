/* SPDX-License-Identifier: MIT */
/* Internals of the emulated source: its state. emu_open.c opens it, emu.c runs it. */
#ifndef PTC_CAPTURE_EMU_EMU_SOURCE_H
#define PTC_CAPTURE_EMU_EMU_SOURCE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/emu/cpu.h"
#include "capture/emu/program.h"
#include "capture/emu/shm_protocol.h"
#include "capture/emu/trace_unit.h"
#include "capture/host/clock.h"
#include "capture/host/launch.h"
#include "capture/soft/lbr.h"
#include "capture/source/source.h"

enum {
	PTC_EMU_TSC_PER_CTC = 125,
	PTC_EMU_MTC_FREQ = 9, /* every 64000 TSC ticks */
	PTC_EMU_PSB_DEFAULT = 16384,
};

struct ptc_emu_source {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	sigset_t mask;
	struct ptc_clock clock;
	uint32_t pmu_type;
	struct ptc_emu_cpu *cpus; /* owned */
	size_t ncpus;
	struct ptc_lbr_stacks stacks;  /* of the threads of all CPUs */
	struct ptc_source_ring *descs; /* owned: one for each CPU */
	struct ptc_emu_shared *sh;     /* attached segment */
	int shm_id;
	struct ptc_emu_unit unit;

	struct ptc_launch launch;
	char *qemu, *plugin; /* owned: paths */
	struct ptc_emu_program program;
	char *path;	/* owned: path of the command */
	char **sh_argv; /* owned, if the shell runs it */

	int end_fd;		     /* eventfd: the unit has ended */
	int quit_fd;		     /* eventfd: the waiter should end */
	int held_fd;		     /* eventfd: a thread waits for a snapshot; -1: not wanted */
	bool unit_runs, waiter_runs; /* these threads must be joined */
	pthread_t unit_thread, waiter_thread;
	pid_t pid;
	int status;
	atomic_bool gone; /* set by the waiter: the command has ended */
	atomic_int want;
	atomic_int pause; /* enum ptc_emu_pause */
	int rc;		  /* result of the unit */
	struct ptc_err err;
};

extern const struct ptc_source_ops ptc_emu_source_ops;

#endif
