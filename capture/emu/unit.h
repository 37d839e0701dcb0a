/* SPDX-License-Identifier: MIT */
/*
 * The trace unit of the emulated source: reads what the plugin wrote about each
 * guest thread (wire.h), and makes of it what a processor and a kernel would
 * have written: packets of the virtual CPUs that the threads share, and side
 * records. A thread of ptcap runs it.
 */
#ifndef PTC_CAPTURE_EMU_UNIT_H
#define PTC_CAPTURE_EMU_UNIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/emu/code.h"
#include "capture/emu/cpu.h"
#include "capture/emu/known.h"
#include "capture/emu/wire.h"
#include "capture/maps.h"
#include "capture/soft/mapped.h"
#include "ptcap/error.h"

/* A process of the guest. */
struct ptc_emu_process {
	pid_t pid;
	int pidfd; /* -1: it could not be opened */
	struct ptc_maps maps;
	struct ptc_known known; /* code that is in no file */
	unsigned int tasks;
	uint64_t epoch; /* another one whenever code is mapped; that of the parent after a fork */
};

/* A thread, and its slot. */
struct ptc_emu_task {
	uint32_t slot;
	uint64_t pos;		      /* words read */
	struct ptc_emu_process *proc; /* NULL until its first event */
	struct ptc_emu_cpu *cpu;      /* it was given; it runs there if cpu->running says so */
	unsigned int turns;	      /* there */
	pid_t tid;
	uint32_t pending; /* number of the line that was entered last, + 1; 0: none */
	bool seen;	  /* has had the CPU */
	bool busy;	  /* is being read */
	bool over;	  /* its end was told */
	uint64_t until;	  /* words to be read in all */
};

/* Snapshots: who may write to the rings. */
enum ptc_emu_pause {
	PTC_EMU_GOES_ON, /* the unit */
	PTC_EMU_ASKED,	 /* still the unit, until it says: */
	PTC_EMU_PAUSED,	 /* nobody, until the session says: goes on */
};

struct ptc_emu_unit {
	/* set by the source */
	struct ptc_emu_shared *sh;
	int shm_id; /* of sh */
	struct ptc_emu_cpu *cpus;
	size_t ncpus;
	const struct ptc_lbr_stacks *stacks; /* of threads; NULL: there are none */
	size_t watermark;		     /* AUX bytes between publications */
	atomic_bool *gone;		     /* the command has ended */
	atomic_int *want;		     /* 1: record no more, 2: leave */
	atomic_int *pause;   /* enum ptc_emu_pause; NULL: full trace, with nothing to pause for */
	atomic_ullong insns; /* so far; for others to look at */
	atomic_ullong bytes;

	/* the outcome */
	uint64_t left_behind;

	/* its own */
	struct ptc_emu_code code;
	struct ptc_mapped files;
	struct ptc_emu_task **tasks; /* owned, each */
	size_t ntasks, tasks_cap;
	struct ptc_emu_process **procs; /* owned, each */
	size_t nprocs, procs_cap;
	struct ptc_emu_task *by_slot[PTC_EMU_SLOTS];
	uint64_t tsc;	 /* now, as far as the packets go */
	uint64_t epochs; /* the last that a process got */
	bool ending;	 /* the tasks are known, and how far each is read */
	bool no_memory;
};

/* A unit starts zeroed, but for what the source sets. */
int ptc_emu_unit_init(struct ptc_emu_unit *u, struct ptc_err *err);
void ptc_emu_unit_release(struct ptc_emu_unit *u);

/* Until the command has ended, or is left. Everything that was written by then is in the rings. */
int ptc_emu_unit_run(struct ptc_emu_unit *u, struct ptc_err *err);

/* Get it out of a wait. Any thread. */
void ptc_emu_unit_wake(struct ptc_emu_shared *sh);

#endif
