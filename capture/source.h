/* SPDX-License-Identifier: MIT */
/*
 * A source: one way to get trace bytes into rings with the kernel's layout.
 * The session (session.h) drains them, whoever fills them.
 */
#ifndef PTC_CAPTURE_SOURCE_H
#define PTC_CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "auxtrace/ledger.h"
#include "auxtrace/pt_info.h"
#include "base/buf.h"
#include "capture/soft/truth.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

/*
 * The event that traces, one whose samples bring trace, and a dummy for the side records;
 * most sources have the first and the last of them.
 */
enum { PTC_SOURCE_EVENTS = 3, PTC_SOURCE_EVENTS_USUAL = 2 };

/*
 * One ring pair, mapped; lent by the source until its free. Where page is NULL its CPU is not there
 * yet: waken may change that, and page and aux only.
 */
struct ptc_source_ring {
	struct perf_event_mmap_page *page;
	size_t data_off, data_size;
	void *aux;
	size_t aux_size;		/* 0: none */
	int fd;				/* readable when there is something to drain */
	bool counts;			/* fd is an eventfd, to be read; a perf fd is not */
	uint32_t idx;			/* AUXTRACE idx */
	int32_t tid, cpu;		/* AUXTRACE tid, cpu; -1: none */
	uint64_t id[PTC_SOURCE_EVENTS]; /* of the events in this ring */
};

/* An event as it was opened: of a task, of a CPU, or of both. */
struct ptc_source_id {
	size_t event; /* which of attr[] */
	uint64_t id;
	uint32_t idx;	  /* of its ring */
	int32_t cpu, tid; /* -1: any */
};

/* What a reader of the file must know. */
struct ptc_source_desc {
	struct perf_event_attr attr[PTC_SOURCE_EVENTS];
	const char *name[PTC_SOURCE_EVENTS];
	size_t nevents; /* of attr[]; 0: the usual. The last is that of side records */
	const struct ptc_source_id *ids; /* lent; NULL: those of the rings */
	size_t nids;
	bool no_info; /* there is no AUXTRACE_INFO: nothing is traced, or not by Intel PT */
	struct ptc_pt_info info;
	bool keep_vdso;	   /* the session saves it: the source does not */
	const char *proc;  /* where it has what is mapped: "/proc"; NULL: nowhere */
	const char *label; /* "step": goes into the VERSION feature */
};

/* How it ended. */
struct ptc_source_end {
	bool unanswered;   /* the tracer did not leave when asked, and was killed: the trace ends
			      early */
	int status;	   /* of the command, as waitpid gives it; valid if !left_running */
	bool left_running; /* detached: the command runs on, untraced */
	bool limited;	   /* opts->max_steps was reached, or opts->to */
	bool unreached;	   /* opts->from never was */
	bool unmet;	   /* opts->at asked for no snapshot */
	bool cut_short;	   /* opts->code_size did not suffice: the target ran on, untraced */
	uint64_t insns, transfers, unshown;
	uint64_t odd;	      /* see struct ptc_flow */
	uint64_t left_behind; /* tasks that outlived the command, traced until then */
	uint64_t untraced;    /* processes that could not be traced, of a source that follows */
	uint64_t crashes;     /* processes whose state states() has */
	uint64_t unseen;      /* passes of opts->at while the trace was off */
	bool unwatched;	      /* from some point on it did not see signals, which opts wants */
	bool follows;	      /* threads and children of the command are traced, too */
	uint64_t lost_records, lost_aux;    /* that the source itself dropped */
	char lacking[128], unfollowed[320]; /* see struct ptc_record_result */
	uint64_t rightless;		    /* see there */
	char rightless_path[256];
	uint64_t made_aux;		       /* trace bytes, dropped or not; 0: not known */
	uint64_t enabled_ns, running_ns;       /* of the kernel's events, in all; 0: no such */
	uint64_t unscheduled, failed;	       /* events that ran for less, or failed in the end */
	const struct ptc_ledger_event *events; /* lent; of each of the kernel's events */
	size_t nevents;
	uint64_t missed_cpus, late_cpus; /* see struct ptc_record_result */
};

struct ptc_source;

struct ptc_source_ops {
	/* Before the recording, and behind it: of events that were opened meanwhile ids are added.
	 */
	void (*describe)(struct ptc_source *s, struct ptc_source_desc *ret);
	size_t (*rings)(struct ptc_source *s, const struct ptc_source_ring **ret);
	/*
	 * Append records of what runs already, and switch the trace of it on. Before start; NULL:
	 * there is nothing.
	 */
	int (*prepare)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	/* Called twice a second, if there is one: see that what makes the trace is able to. */
	void (*tend)(struct ptc_source *s);
	/* Ring @i is about to be drained: wakeups up to here are done with. NULL: nothing to do. */
	void (*waken)(struct ptc_source *s, size_t i);
	/* end_fd said so: nothing may be written any more when this returns. NULL: nothing is. */
	void (*quiesce)(struct ptc_source *s);
	/*
	 * Bytes of ring @i were given back: a waiting producer may go on. @stopped:
	 * the AUX ring was full, so a PMU that does not wait has stopped.
	 */
	void (*drained)(struct ptc_source *s, size_t i, bool stopped);
	/* After finish: what it knows of ring @i better than the ring does. NULL: nothing. */
	void (*account)(struct ptc_source *s, size_t i, struct ptc_ledger_ring *ret);
	/* Let the target run; tracing begins with its first instruction. *ret_pid: of the command.
	 */
	int (*start)(struct ptc_source *s, pid_t *ret_pid, struct ptc_err *err);
	/*
	 * After start: readable, or hung up, once the target has ended or was left, and
	 * everything is in the rings.
	 */
	int (*end_fd)(struct ptc_source *s);
	/* How far it is: what it knows better than the session. NULL: nothing. */
	void (*progress)(struct ptc_source *s, struct ptc_progress *ret);
	/*
	 * Snapshots: stop the trace in all rings, with aux_head of each valid and all records
	 * about it in the data rings. True: it stands still until resume. False: not yet; the
	 * caller goes on draining (the source may wait for just that), and asks again, when
	 * a ring's fd wakes it or after a while. NULL, as resume: the source cannot.
	 */
	bool (*pause)(struct ptc_source *s);
	/*
	 * In a pause, or after quiesce: did a trace go on all the same, since that or since this
	 * was asked last? It has ended now; what was read of the rings is not to be trusted. NULL:
	 * none can.
	 */
	bool (*went_on)(struct ptc_source *s);
	/* Only after a pause that said true. The trace goes on with a PSB. */
	void (*resume)(struct ptc_source *s);
	/*
	 * After start: readable when a snapshot is to be taken for opts->at, or a thread is held
	 * for one, since a signal is about to be delivered that opts->crash or opts->on_signals is
	 * for. The next pause takes notice, and its resume lets the thread go on. -1: that is not
	 * wanted. NULL: the source cannot.
	 */
	int (*held_fd)(struct ptc_source *s);
	/* It was: is there something that asks, still? NULL: there is. */
	bool (*asks)(struct ptc_source *s);
	/* How long before the newest pause what asked for it had happened. NULL: not at all. */
	uint64_t (*behind)(struct ptc_source *s);
	/*
	 * Record no more. A command runs on, and the end is its end; what was attached
	 * to is left, which is the end. May be called again, as leave.
	 */
	void (*stop)(struct ptc_source *s);
	/*
	 * Leave the target, which runs on untraced. May be called again until end_fd
	 * is readable (it has to be: a request can cross a wait).
	 */
	void (*leave)(struct ptc_source *s);
	/* Nobody drains any more (the file cannot be written): drop everything from here on. */
	void (*abandon)(struct ptc_source *s);
	/* After end_fd: the outcome; or why the source itself failed, *ret being set all the same.
	 */
	int (*finish)(struct ptc_source *s, struct ptc_source_end *ret, struct ptc_err *err);
	/*
	 * In a pause, or after finish: append the states of processes that were killed by
	 * signals, for opts->crash; each once. NULL: the source cannot.
	 */
	int (*states)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	/*
	 * In a pause for a series, or after finish: append the code of all files that were mapped
	 * and are gone or replaced (auxtrace/filecode.h). NULL: the source does not keep them.
	 */
	int (*code)(struct ptc_source *s, struct ptc_buf *b, struct ptc_err *err);
	void (*free)(struct ptc_source *s);
};

/* First member of every source. */
struct ptc_source {
	const struct ptc_source_ops *ops;
	struct ptc_truth *truth; /* to be drained as well; NULL: none. The source's own */
	/* What on_wake said while start() waited: PTC_WAKE_SNAPSHOT so often, PTC_WAKE_LAST. */
	uint64_t early_snapshots;
	bool early_last;
};

/* Sizes of rings that sources take: powers of two (the kernel's rule), of two pages at least. */
#define PTC_RING_MIN ((uint64_t)8192)
#define PTC_RING_MAX ((uint64_t)1 << 31)

/* PTC_E_USAGE unless both are such sizes. */
int ptc_source_check_rings(uint64_t data_size, uint64_t aux_size, struct ptc_err *err);

/* The words of AUXTRACE_INFO that say where attr.config has what. */
void ptc_source_config_masks(struct ptc_pt_info *info);

/* The sources. @opts must outlive the source. */
int ptc_perf_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);
int ptc_emu_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);
int ptc_step_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err);

#endif
