/* SPDX-License-Identifier: MIT */
/*
 * The trace unit of the emulated source, a thread of ptcap. It reads what the plugin wrote about
 * each guest thread (shm_protocol.h). From that it produces the output of a processor and a kernel:
 * packets of the virtual CPUs that the threads share, and sideband records.
 */
#ifndef PTC_CAPTURE_EMU_TRACE_UNIT_H
#define PTC_CAPTURE_EMU_TRACE_UNIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/emu/block_table.h"
#include "capture/emu/cpu.h"
#include "capture/emu/recorded_code.h"
#include "capture/emu/shm_protocol.h"
#include "capture/host/maps.h"
#include "capture/soft/mapped_files.h"
#include "ptcap/error.h"

/* A fault that a process has handled. */
struct ptc_emu_handled {
	struct ptc_emu_fault fault; /* number 0: none */
	pid_t tid;
	uint64_t time_ns;
	bool bad_branch; /* a branch to an address that is not canonical */
};

/* A guest process. */
struct ptc_emu_process {
	pid_t pid;
	int pidfd; /* -1: could not be opened */
	struct ptc_maps maps;
	struct ptc_queue_contexts known; /* recorded code that is in no file */
	unsigned int tasks;
	/* Changes whenever maps or known change; a fork copies its parent's. */
	uint64_t epoch;
	uint64_t base;			/* host's address of the guest's address 0 */
	bool dies;			/* a signal is about to kill it, and its state is saved */
	struct ptc_emu_handled handled; /* the last */
};

/* A thread, and its slot. */
struct ptc_emu_task {
	uint32_t slot;
	uint64_t pos;		      /* number of words read */
	struct ptc_emu_process *proc; /* NULL until its first event */
	/* the assigned CPU; the task runs there if cpu->running is this task */
	struct ptc_emu_cpu *cpu;
	unsigned int turns; /* on this CPU */
	pid_t tid;
	uint32_t pending; /* index + 1 of the line that was entered last; 0: none */
	bool seen;	  /* has had a CPU */
	bool busy;	  /* its words are being read */
	bool over;	  /* its end was reported */
	/*
	 * Its last signal came from the branch here, whose target is not canonical; 0: it did not.
	 * QEMU has executed this branch, and the processor would not.
	 */
	uint64_t bad_branch;
	int64_t bad_branch_sp; /* what the branch added to rsp */
	uint64_t signal_ns;    /* time of its last signal */
	bool held;	       /* it waits for a snapshot, so no more words are read */
	uint64_t until;	       /* total number of words to read */
	struct ptc_buf dying;  /* reported registers of the process */
};

/* Snapshot handshake: decides which thread may write to the rings. */
enum ptc_emu_pause {
	PTC_EMU_GOES_ON, /* the unit may write */
	PTC_EMU_ASKED,	 /* still the unit; it should pause */
	PTC_EMU_PAUSED,	 /* no thread, until the session sets GOES_ON */
};

struct ptc_emu_unit {
	/* set by the source */
	struct ptc_emu_shared *sh;
	int shm_id; /* of sh */
	struct ptc_emu_cpu *cpus;
	size_t ncpus;
	const struct ptc_lbr_stacks *stacks; /* branch stacks of the threads; NULL: not recorded */
	size_t watermark;		     /* AUX bytes between publications */
	atomic_bool *gone;		     /* the command has ended */
	atomic_int *want;		     /* 1: stop recording, 2: leave */
	atomic_int *pause; /* enum ptc_emu_pause; NULL: full trace, which never pauses */
	int held_fd;	   /* eventfd, written when a thread waits for a snapshot; -1: not wanted */
	bool no_state_memory; /* opts->no_memory, for @states and @lives */
	atomic_ullong insns;  /* so far; other threads may read it */
	atomic_ullong bytes;

	/* results */
	uint64_t left_behind;
	bool met_point;	       /* a place has requested a snapshot */
	uint64_t crashes;      /* dying processes whose state was saved */
	uint64_t handled;      /* the same: failing processes that have handled a fault */
	struct ptc_buf states; /* owned: records that the session has not taken yet */
	struct ptc_buf lives;  /* owned: the same, of the processes at the newest pause */
	uint64_t nlives;       /* processes in @lives */

	/* used by the unit only */
	struct ptc_emu_code code;
	struct ptc_mapped files;
	struct ptc_emu_task **tasks; /* owned, including the items */
	size_t ntasks, tasks_cap;
	struct ptc_emu_process **procs; /* owned, including the items */
	size_t nprocs, procs_cap;
	struct ptc_emu_task *by_slot[PTC_EMU_SLOTS];
	uint64_t tsc;	 /* current time of the packets */
	uint64_t epochs; /* the last epoch given to a process */
	bool hold;	 /* some task is held */
	bool ending;	 /* the set of tasks, and the words to read from each, are final */
	bool no_memory;
};

/* A unit starts zeroed, except for the members that the source sets. */
int ptc_emu_unit_init(struct ptc_emu_unit *u, struct ptc_err *err);
void ptc_emu_unit_release(struct ptc_emu_unit *u);

/*
 * Runs until the command has ended or was left. All words written by then are converted into the
 * rings.
 */
int ptc_emu_unit_run(struct ptc_emu_unit *u, struct ptc_err *err);

/* Interrupts the unit's wait. Any thread may call it. */
void ptc_emu_unit_wake(struct ptc_emu_shared *sh);

#endif
