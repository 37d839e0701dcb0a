/* SPDX-License-Identifier: MIT */
/*
 * A source produces trace bytes in rings with the kernel's layout. The session
 * (capture/session/session.c) drains every source in the same way.
 */
#ifndef PTC_CAPTURE_SOURCE_SOURCE_H
#define PTC_CAPTURE_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/ledger.h"
#include "base/buf.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

struct ptc_truth;

/*
 * The events, in order: the tracing event, an event whose samples contain trace, and a dummy event
 * for sideband records. Most sources have only the first and the last.
 */
enum { PTC_SOURCE_EVENTS = 3, PTC_SOURCE_EVENTS_USUAL = 2 };

/*
 * One pair of mapped rings. The source owns it. page NULL: the ring's CPU is not online yet. waken
 * may later set page and aux, and nothing else.
 */
struct ptc_source_ring {
	struct perf_event_mmap_page *page;
	size_t data_off, data_size;
	void *aux;
	size_t aux_size; /* 0: no AUX ring */
	int fd;		 /* readable when there is something to drain */
	bool counts;	 /* fd is an eventfd, whose counter must be read; a perf fd needs no read */
	uint32_t idx;	 /* AUXTRACE idx */
	int32_t tid, cpu;		/* AUXTRACE tid, cpu; -1: none */
	uint64_t id[PTC_SOURCE_EVENTS]; /* ids of the events in this ring */
};

/* An open event: of a task, of a CPU, or of both. */
struct ptc_source_id {
	size_t event; /* index into attr[] */
	uint64_t id;
	uint32_t idx;	  /* idx of its ring */
	int32_t cpu, tid; /* -1: any */
};

/* Facts that a reader of the file needs. */
struct ptc_source_desc {
	struct perf_event_attr attr[PTC_SOURCE_EVENTS];
	const char *name[PTC_SOURCE_EVENTS];
	/* length of attr[]; 0: PTC_SOURCE_EVENTS_USUAL. The last is for sideband records */
	size_t nevents;
	const struct ptc_source_id *ids; /* borrowed from the source; NULL: use the rings' ids */
	size_t nids;
	bool no_info; /* no AUXTRACE_INFO: no trace, or not an Intel PT trace */
	struct ptc_pt_info info;
	bool keep_vdso;	   /* the session records the vdso's bytes, since the source does not */
	const char *proc;  /* where to look up current mappings: "/proc"; NULL: nowhere */
	const char *label; /* such as "step": part of the VERSION feature */
};

/* Result of a source. */
struct ptc_source_end {
	/* the tracer did not react to a leave request and was killed: the trace ends early */
	bool unanswered;
	int status;	   /* of the command, from waitpid; valid if !left_running */
	bool left_running; /* detached: the command runs on, untraced */
	bool limited;	   /* opts->max_steps or opts->to was reached */
	bool unreached;	   /* opts->from was never reached */
	bool unmet;	   /* opts->at requested no snapshot */
	bool cut_short;	   /* opts->code_size was too small: the target ran on, untraced */
	uint64_t insns, transfers, unshown;
	uint64_t odd;	      /* see struct ptc_flow */
	uint64_t left_behind; /* tasks that outlived the command, traced until its end */
	uint64_t untraced;    /* processes that could not be traced, if the source follows forks */
	uint64_t crashes;     /* processes whose crash state states() has */
	uint64_t handled;     /* the same, of processes that handled the signal and exited */
	uint64_t undumped;    /* see struct ptc_record_result */
	uint64_t unseen;      /* times that opts->at was reached while the trace was off */
	bool unwatched;	      /* the source stopped seeing the signals that opts asks for */
	bool follows;	      /* threads and children of the command are traced too */
	uint64_t lost_records, lost_aux;    /* dropped by the source itself */
	char lacking[128], unfollowed[320]; /* see struct ptc_record_result */
	uint64_t rightless;		    /* see struct ptc_record_result */
	char rightless_path[256];
	uint64_t made_aux; /* trace bytes produced, including dropped ones; 0: unknown */
	uint64_t enabled_ns, running_ns; /* sums over the kernel's events; 0: the source has none */
	/* events that ran only part of the time; events that ended with an error */
	uint64_t unscheduled, failed;
	/* borrowed from the source; one for each kernel event */
	const struct ptc_ledger_event *events;
	size_t nevents;
	uint64_t missed_cpus, late_cpus; /* see struct ptc_record_result */
};

struct ptc_source;

struct ptc_source_ops {
	/* Called before the recording and again after it. Events opened in between add ids. */
	void (*describe)(struct ptc_source *s, struct ptc_source_desc *ret);
	size_t (*rings)(struct ptc_source *s, const struct ptc_source_ring **ret);
	/*
	 * Appends records about processes that already run, and starts tracing them. Called before
	 * start. NULL: nothing to do.
	 */
	int (*prepare)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	/*
	 * Called twice a second if not NULL: checks that the producer of the trace can still work.
	 */
	void (*tend)(struct ptc_source *s);
	/* Called before ring @i is drained: clears its wakeups so far. NULL: nothing to do. */
	void (*waken)(struct ptc_source *s, size_t i);
	/*
	 * Called after end_fd became readable. No producer writes any more when this returns. NULL:
	 * no producer writes then anyway.
	 */
	void (*quiesce)(struct ptc_source *s);
	/*
	 * Ring @i was drained: a waiting producer may continue. @stopped: the AUX ring was full, so
	 * a PMU that does not wait has stopped.
	 */
	void (*drained)(struct ptc_source *s, size_t i, bool stopped);
	/*
	 * Called after finish: corrects the ledger of ring @i where the source knows better. NULL:
	 * nothing to do.
	 */
	void (*account)(struct ptc_source *s, size_t i, struct ptc_ledger_ring *ret);
	/* Starts the target. Tracing begins with its first instruction. *ret_pid: the command. */
	int (*start)(struct ptc_source *s, pid_t *ret_pid, struct ptc_err *err);
	/*
	 * Called after start. Returns a descriptor that becomes readable or hung up once the target
	 * has ended or was left. The rings are then complete.
	 */
	int (*end_fd)(struct ptc_source *s);
	/* Fills in progress values that the source knows better than the session. NULL: none. */
	void (*progress)(struct ptc_source *s, struct ptc_progress *ret);
	/*
	 * For snapshots: stops the trace in all rings. Each aux_head is then valid, and all records
	 * about the trace are in the data rings. True: the trace stands still until resume. False:
	 * not yet. The caller then goes on draining, because the source may wait for that. It asks
	 * again when a ring's fd wakes it, or after some time. NULL (resume too): the source cannot
	 * pause.
	 */
	bool (*pause)(struct ptc_source *s);
	/*
	 * Called in a pause or after quiesce. Returns true if a trace continued in spite of that,
	 * since the pause or since the last call. It has stopped by now, but the bytes read from
	 * the rings are unreliable. NULL: this cannot happen.
	 */
	bool (*went_on)(struct ptc_source *s);
	/* Called only after a pause that returned true. The trace continues with a PSB. */
	void (*resume)(struct ptc_source *s);
	/*
	 * Called after start. Returns a descriptor. It becomes readable when opts->at requests a
	 * snapshot. It also does when a thread is held because of a signal that opts->crash or
	 * opts->on_signals selects. The next pause handles the request, and its resume releases the
	 * thread. -1: not requested by opts. NULL: the source cannot do this.
	 */
	int (*held_fd)(struct ptc_source *s);
	/* Called after held_fd was readable: is the request still pending? NULL: always. */
	bool (*asks)(struct ptc_source *s);
	/* Returns the time from the triggering event to the newest pause. NULL: no delay. */
	uint64_t (*behind)(struct ptc_source *s);
	/*
	 * Stops recording. A command runs on, and the recording ends with the command. Attached
	 * processes are left, which ends the recording. Both stop and leave may be called
	 * repeatedly.
	 */
	void (*stop)(struct ptc_source *s);
	/*
	 * Leaves the target, which runs on untraced. The caller repeats the call until end_fd is
	 * readable, because a request can miss a waiting tracer.
	 */
	void (*leave)(struct ptc_source *s);
	/*
	 * The rings will not be drained any more (the file cannot be written): drop all further
	 * records and trace.
	 */
	void (*abandon)(struct ptc_source *s);
	/*
	 * Called after end_fd was readable. Fills *ret with the result, also on failure. On failure
	 * returns why the source itself failed.
	 */
	int (*finish)(struct ptc_source *s, struct ptc_source_end *ret, struct ptc_err *err);
	/*
	 * Called after end_fd was readable, maybe repeatedly: no process traces the targets with
	 * ptrace any more when this returns. NULL: none does then.
	 */
	void (*part)(struct ptc_source *s);
	/*
	 * Called in a pause or after finish: appends the states of processes that signals killed,
	 * for opts->crash. Each state is appended once. NULL: the source cannot.
	 */
	int (*states)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	/*
	 * Called in a pause of a series, for opts->stacks: appends the states of the processes that
	 * live on. An emulated source has them also at a requested end. *@ret: number of states,
	 * added to. NULL: the session reads them with ptrace.
	 */
	int (*lives)(struct ptc_source *s, struct ptc_buf *b, uint64_t *ret, struct ptc_err *err);
	/*
	 * Called in a pause of a series, or after finish: appends the code of all mapped files that
	 * are gone or replaced (auxtrace/record/filecode.h). NULL: the source does not keep them.
	 */
	int (*code)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	void (*free)(struct ptc_source *s);
};

/* First member of every source. */
struct ptc_source {
	const struct ptc_source_ops *ops;
	struct ptc_truth *truth; /* ground truth to drain too; NULL: none. The source owns it */
	/*
	 * Results of on_wake while start() waited: the number of PTC_WAKE_SNAPSHOT, and
	 * PTC_WAKE_LAST.
	 */
	uint64_t early_snapshots;
	bool early_last;
	/* The command runs in an emulator: ptrace sees the emulator's registers and memory. */
	bool emulated;
};

/* Limits of ring sizes. A size is a power of two (the kernel's rule), of two pages at least. */
#define PTC_RING_MIN ((uint64_t)8192)
#define PTC_RING_MAX ((uint64_t)1 << 31)

/* Returns PTC_E_USAGE unless both sizes are valid. */
int ptc_source_check_rings(uint64_t data_size, uint64_t aux_size, struct ptc_err *err);

/* Sets the AUXTRACE_INFO words that describe the bits of attr.config. */
void ptc_source_config_masks(struct ptc_pt_info *info);

/* Open a source. @opts must outlive it. */
int ptc_perf_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);
int ptc_emu_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);
int ptc_step_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);

#endif
