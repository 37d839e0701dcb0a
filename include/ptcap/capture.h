/* SPDX-License-Identifier: MIT */
/* Recording: a command in, a perf.data out. */
#ifndef PTCAP_CAPTURE_H
#define PTCAP_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/error.h"
#include "ptcap/kind.h"
#include "ptcap/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ptc_source_kind {
	/*
	 * Intel PT if the machine has it; else, for a command, the emulated source if it
	 * can take it here, and the step source if not.
	 */
	PTC_SOURCE_AUTO = 0,
	PTC_SOURCE_PT,	 /* Intel PT, through perf_event_open */
	PTC_SOURCE_STEP, /* the software PMU that single-steps under ptrace */
	PTC_SOURCE_EMU,	 /* commands only: the program runs in qemu-x86_64 */
};

enum ptc_wake_action {
	PTC_WAKE_GO_ON = 0,
	PTC_WAKE_LEAVE,	   /* end the recording; the command runs on, untraced */
	PTC_WAKE_SNAPSHOT, /* take one, if opts->snapshot; asked again before that it is one */
	PTC_WAKE_LAST,	   /* go on, but whatever the end is, it takes one, as LEAVE does */
};

/* How far a recording is. */
struct ptc_progress {
	uint64_t elapsed_ns; /* since the target ran */
	uint64_t insns;	     /* a software source's; else 0 */
	uint64_t aux_bytes;  /* of trace, in the file or on the way there */
};

/* The kernel's clock cannot be read, so as to hold it against the time of what was come to. */
#define PTC_BEHIND_UNKNOWN UINT64_MAX

/* A snapshot that was taken. */
struct ptc_taken {
	uint64_t n;	    /* from 1 on */
	uint64_t bytes;	    /* of trace */
	const char *path;   /* lent: the file it is in */
	uint64_t wanted;    /* how often PTC_WAKE_SNAPSHOT was said before it was taken */
	uint64_t behind_ns; /* so long after a place of opts->at was come to; 0: not for
			     * one, or in front of it; or PTC_BEHIND_UNKNOWN */
};

/* A place in a program's code. */
struct ptc_place {
	/*
	 * The ELF file it is in, as the kernel names it: an absolute path without links.
	 * NULL: addr is an address of the process.
	 */
	const char *file;
	uint64_t addr; /* an offset into that file, or an address */
};

/* What address filters do with the trace; several are allowed, as many as the PMU has. */
enum ptc_filter_action {
	PTC_FILTER_WITHIN = 0, /* trace what is in there (and in others of these) only */
	PTC_FILTER_START,      /* begin there */
	PTC_FILTER_STOP,       /* end there: at an address, or anywhere in a range */
};

struct ptc_addr_filter {
	enum ptc_filter_action action;
	/* NULL: addr is an address, of the kernel or of processes; else an offset into that file */
	const char *file;
	uint64_t addr, size; /* 0: no range */
};

/* Where a snapshot is taken, each @count-th time that control comes there; 0: as 1. */
struct ptc_crossing {
	struct ptc_place place;
	uint64_t count;
};

/* Ways to spoil the branch stacks of a software source. */
enum ptc_spoil {
	PTC_SPOIL_NONE = 0,
	PTC_SPOIL_TARGET,	/* an entry leads elsewhere: a bit of its target is turned over */
	PTC_SPOIL_SOURCE,	/* ... of its source */
	PTC_SPOIL_DROP,		/* an entry is missing, neither the newest nor the oldest */
	PTC_SPOIL_TOP,		/* the newest is there twice, and the oldest is not */
	PTC_SPOIL_SWAP,		/* two neighbours are the wrong way round */
	PTC_SPOIL_SHIFT,	/* the newest ones are missing */
	PTC_SPOIL_STALE_OLDEST, /* the three oldest are the newest of another thread */
	PTC_SPOIL_TYPE,		/* the type of an entry is another one */
	PTC_SPOIL_FLAG,		/* the type of an entry is lost */
};

struct ptc_lbr_spoil {
	enum ptc_spoil mode;
	uint32_t shift; /* of PTC_SPOIL_SHIFT: by so many, at most PTC_LBR_SHIFT_MAX */
	uint64_t rate;	/* one of so many stacks, at random; not 0 */
	uint64_t seed;	/* of the random numbers */
};

/*
 * What a software source tells of a branch stack: first that there is a sample, then of each entry
 * of it that is spoilt, as it was.
 */
struct ptc_lbr_note {
	uint64_t time_ns, ip; /* of the sample */
	int tid;
	uint32_t n;	     /* entries it has, or had before it was spoilt */
	enum ptc_spoil mode; /* PTC_SPOIL_NONE: this is a sample; else an entry of the newest: */
	uint32_t index;	     /* 0 is the newest */
	uint64_t from, to;
};

#define PTC_LBR_SIZE_MAX    512u
#define PTC_LBR_SHIFT_MAX   16u
#define PTC_VCPUS_MAX	    64u
#define PTC_AT_MAX	    4u		/* what a processor can watch */
#define PTC_AUX_SAMPLE_MAX  (60u << 10) /* what surely fits a record */
#define PTC_SAMPLER_DEFAULT "cpu-clock:u"
#define PTC_LBR_DEFAULT	    "cycles:u" /* the same with branch stacks */

/*
 * Begin with PTC_RECORD_OPTS_INIT, or with zeros and the size: both are the defaults. Needed are
 * output, and argv, pids, tids, all_cpus, cpus or cgroup. PTC_E_USAGE names an option that cannot
 * be.
 */
struct ptc_record_opts {
	size_t size;	    /* sizeof(struct ptc_record_opts) */
	const char *output; /* path of the perf.data */
	char *const *argv;  /* the command, NULL-terminated; NULL: record what is there */
	/*
	 * What runs already: processes with all their threads, and single threads.
	 * Recorded until they end or the recording is left, and left as they were.
	 */
	const pid_t *pids, *tids;
	size_t npids, ntids;
	/*
	 * Instead, the kernel only: everything that runs, on all CPUs or on those of @cpus
	 * ("0-3,8"), or the part of it that is in a cgroup, named below where its hierarchy is
	 * mounted. argv, if given, then says how long. Not with pids or tids.
	 */
	const char *cpus;   /* NULL: all */
	const char *cgroup; /* NULL: whoever */
	/*
	 * The event, in the form that perf gives it: "intel_pt/cyc,psb_period=3/u", another PMU
	 * with an AUX area, whose trace is recorded as it is, or "dummy:u" and its like: side
	 * records only. NULL: "intel_pt//u". Not with a software source.
	 */
	const char *event;
	/*
	 * Trace by address, where the PMU can; PTC_E_UNSUPPORTED: it cannot, or not so many, or not
	 * these. Those of files are for tasks, not for CPUs. Kernel only.
	 */
	const struct ptc_addr_filter *filters;
	size_t nfilters;
	enum ptc_source_kind source;
	bool all_cpus; /* not needed with cpus or cgroup */
	/* The kernel's: a ring pair for each thread that there is now, none for those to come. */
	bool per_thread;
	uint64_t data_size,
		aux_size; /* bytes of the rings; powers of two, at least 8192; 0: default */
	/*
	 * The emulated source loses what does not fit the rings, as hardware does, and
	 * says so; without, the program waits. Not with other sources: PTC_E_USAGE.
	 */
	bool lossy;
	/*
	 * The emulated source's CPUs, each with a ring pair; threads are spread over them
	 * and moved now and then. 0: one. At most PTC_VCPUS_MAX. Not with other sources.
	 */
	unsigned int vcpus;
	/*
	 * The trace goes round in the AUX ring, and only snapshots of it reach the file: one
	 * each time on_wake says PTC_WAKE_SNAPSHOT, and one at the end. Side records are
	 * recorded all the time. Not with sources that cannot pause, nor with lossy:
	 * PTC_E_USAGE.
	 */
	bool snapshot;
	/*
	 * When a signal is about to kill a process that is recorded, save the state it is in
	 * (ptcap/crash.h). With snapshot, take one then; of a series, it has that state. Not with
	 * the emulated source, nor with CPUs: PTC_E_USAGE.
	 */
	bool crash;
	/* With crash: keep no memory of the process: neither stacks nor code that is in no file. */
	bool no_memory;
	/*
	 * With snapshot: take one when one of these signals is about to be delivered, whatever it
	 * will do. Bit N-1: signal N. As crash otherwise.
	 */
	uint64_t on_signals;
	/*
	 * With snapshot: take one when a thread comes to one of these places, at most PTC_AT_MAX.
	 * The step source stands still in front of it; of what the kernel records the thread runs
	 * on for a moment (ptc_taken.behind_ns), and each CPU counts by itself.
	 */
	const struct ptc_crossing *at;
	size_t nat;
	/*
	 * With snapshot: each is a file of its own, "OUTPUT.000" and so on, and whole by itself:
	 * all that the rings hold, from a PSB on, and what was mapped and who ran by then. Side
	 * records are kept in memory, old ones as what they amount to. With a count of 1 the file
	 * is OUTPUT.
	 */
	bool series;
	bool no_exit;		/* of it: none when what is recorded ends by itself, */
	bool no_last;		/* and none when it is left, or a limit is reached */
	uint64_t snapshot_size; /* the newest bytes of each ring; 0: all of it. At least 4096 */
	uint64_t count;		/* of a series: then end, as at a limit; 0: no end */
	uint64_t every_ns, after_ns; /* take one that often; the first one then; 0: do not */
	/*
	 * The kernel only: the trace goes round in the AUX ring, and each sample of @sampler, an
	 * event that is on when the trace is, brings its newest bytes, so many, at most
	 * PTC_AUX_SAMPLE_MAX. No other trace is in the file. Not with snapshots. 0: not so.
	 */
	uint64_t aux_sample;
	const char *sampler; /* as @event, but one that counts; NULL: PTC_SAMPLER_DEFAULT,
				PTC_LBR_DEFAULT */
	/* how much it counts from one sample to the next, or samples a second; 0, both: its own */
	uint64_t sample_period, sample_freq;
	/*
	 * Samples with branch stacks, beside the trace: PERF_SAMPLE_BRANCH_* of what they have; 0:
	 * none. Of the kernel they are @sampler's, with aux_sample the same
	 * samples; PTC_E_UNSUPPORTED, PTC_E_BUSY: the CPU has none, or not beside Intel PT. A
	 * software source counts "branches" (NULL) or "instructions" for them, of each of its
	 * CPUs, knows of user space only, and whether a branch was mispredicted, or how many cycles
	 * it took, it does not know.
	 */
	uint64_t branch_sample_type;
	uint32_t lbr_size; /* entries, of a software source: at most PTC_LBR_SIZE_MAX; 0: 32 */
	struct ptc_lbr_spoil lbr_spoil; /* for tests of what reads them; software sources only */
	/*
	 * Bytes in which the emulated source keeps the program's code, each block of it
	 * once: whole pages, 64 KiB to 16 GiB; 0: default (1 GiB). When they are used up
	 * the recording ends (cut_short). Not with other sources: PTC_E_USAGE.
	 */
	uint64_t code_size;
	/*
	 * The kernel only, for events that trace it (the default event is "intel_pt//" then): keep
	 * a copy of its code, from /proc/kcore, with that of modules and BPF programs. @output is a
	 * folder then, as of perf record --kcore. PTC_E_PERM, PTC_E_NOT_EXIST: /proc/kcore is not
	 * for us, or not there; PTC_E_BUSY: modules came and went all the time.
	 */
	bool kcore;
	/*
	 * Once the events are open, the calling thread, and threads and processes that ptc_record
	 * starts, keep only the capabilities(7) that the recording needs, and get no_new_privs.
	 * They do not come back when ptc_record returns: for programs that do nothing else. A
	 * command keeps all it had, because it is forked before. The software sources start their
	 * command later, and ignore this with argv.
	 */
	bool drop_rights;
	bool no_retcomp; /* switch RET compression off */
	/*
	 * Compress side records, as `perf record -z`: 1 (fast) to 22 (small); 0: not.
	 * The trace itself stays as it is.
	 */
	unsigned int compression;
	/*
	 * Real-time priority (SCHED_FIFO, 1 to 99) of the thread that drains the rings; 0: none.
	 * PTC_E_PERM if that is not for us.
	 */
	unsigned int realtime;
	uint32_t psb_period;	     /* bytes between PSBs, 2048 << 0..15; 0: default (2048) */
	const sigset_t *cmd_sigmask; /* signal mask the command starts with; NULL: the caller's */
	const char *const
		*cmdline; /* what the user typed, for the CMDLINE feature; NULL-terminated */

	/*
	 * Limits; 0: none. At the first one reached the recording ends: a command runs
	 * on untraced and its end is waited for, what was attached to is left.
	 * Hardware does not count steps: PTC_E_USAGE.
	 */
	uint64_t max_steps; /* instructions */
	uint64_t max_ns;
	/*
	 * Record from one place to another, as often as control comes by, of all
	 * threads; the program runs at full speed elsewhere. The instruction at @from
	 * is recorded, that at @to is not. Without @from from the beginning; then the
	 * recording ends at @to, as at a limit. NULL: not so. Not with hardware:
	 * PTC_E_USAGE.
	 */
	const struct ptc_place *from, *to;

	/*
	 * Every transfer a software source saw, in order, on the thread that called
	 * ptc_record. NULL: not wanted. Hardware cannot tell: PTC_E_USAGE.
	 */
	void (*truth)(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);
	void *truth_ctx;
	/* With truth: each branch stack, behind the transfer that it was taken after. May be NULL.
	 */
	void (*lbr_truth)(void *ctx, const struct ptc_lbr_note *note);

	/*
	 * @wake_fd is polled while recording; when it is readable @on_wake is called,
	 * on the thread that called ptc_record, and decides. -1: none; so is 0 without on_wake.
	 * @cmd is the command's pid; 0: it does not run yet, or there is none. Typical: a signalfd.
	 * PTC_WAKE_LEAVE ends a recording within a second, whatever is recorded does.
	 */
	int wake_fd;
	enum ptc_wake_action (*on_wake)(void *ctx, pid_t cmd);
	void *wake_ctx;
	/*
	 * Called once: what was chosen. Before the command runs, or once everything is
	 * attached to. May be NULL.
	 */
	void (*on_start)(void *ctx, enum ptc_source_kind chosen, const char *why);
	void *start_ctx;
	/* Something about the recording that only who asks for it wants to know. May be NULL. */
	void (*on_note)(void *ctx, const char *text);
	void *note_ctx;
	/* It is in the file. May be NULL. */
	void (*on_snapshot)(void *ctx, const struct ptc_taken *t);
	void *snapshot_ctx;
	/* Once, at the end: the account, which is in the file, too. Lent. May be NULL. */
	void (*on_ledger)(void *ctx, const struct ptc_ledger_ring *rings, size_t nrings,
			  const struct ptc_ledger_event *events, size_t nevents);
	void *ledger_ctx;
	/* Called every second or so while recording. May be NULL. */
	void (*on_progress)(void *ctx, const struct ptc_progress *p);
	void *progress_ctx;
	/* With drop_rights: another name that the caller creates, renames or removes later. May be
	 * NULL. */
	const char *other_output;
};

/* The defaults: the best source, no limits, no callbacks. */
#ifdef __cplusplus
static inline struct ptc_record_opts ptc_record_opts_init(void)
{
	struct ptc_record_opts opts = {};

	opts.size = sizeof(opts);
	opts.wake_fd = -1;
	return opts;
}
#define PTC_RECORD_OPTS_INIT ptc_record_opts_init()
#else
/* clang-format off */
#define PTC_RECORD_OPTS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_record_opts), .wake_fd = -1                              \
	}
/* clang-format on */
#endif

/* Everything a recording must account for. */
struct ptc_record_result {
	enum ptc_source_kind source; /* the one that was used */
	int status;		     /* of the command, as waitpid gives it */
	bool left_running;	     /* status is not valid: the command runs on */
	bool limited;		     /* max_steps or max_ns was reached, or to */
	bool unreached;		     /* from never was, so there is nothing */
	bool unmet;		     /* at was never come to, or not as often as it says */
	bool cut_short;		     /* code_size did not suffice: whole up to there, no further */
	uint64_t insns, transfers;   /* software sources */
	uint64_t unshown;   /* of those, in circles that make no packet: struct ptc_ledger_source */
	uint64_t aux_bytes; /* trace bytes in the file */
	/* those that a software source made: in the file, lost, or of no snapshot; or 0 */
	uint64_t made_aux;
	uint64_t snapshots;  /* taken, the last one, at the end, too */
	uint64_t crashes;    /* with crash: processes whose state was saved */
	uint64_t unseen;     /* with at: how often a place was come to, and counted, while
				the trace was off for a snapshot: none was taken for that */
	uint64_t samples;    /* of events, with aux_sample those with trace in them */
	uint64_t data_bytes; /* bytes of side records, before they were compressed */
	uint64_t packed_in, packed_out; /* bytes that were compressed, and what became of them */
	uint64_t file_bytes;
	uint64_t kcore_bytes; /* of the kernel's code, with kcore */
	uint64_t duration_ns; /* from the first record's time to the last one's; of a series: how
				 long it ran */
	/* losses, 0 each in a complete recording */
	bool disk_full;	       /* from some point on nothing was written any more */
	uint64_t unwritten;    /* trace bytes that were read then */
	uint64_t lost_records; /* side records that did not fit the ring */
	uint64_t lost_aux;     /* trace bytes that did not fit, or were overwritten unread; not
				  snapshots' */
	uint64_t truncated, partial; /* AUX records with those flags */
	uint64_t collisions;	     /* AUX records with that flag: another tracer got in the way */
	uint64_t restarts;  /* times that a ring was full and its events were switched on again */
	uint64_t throttled; /* times that the kernel held an event back */
	uint64_t unscheduled, failed; /* events that did not run all the time they were on; that
					 ended in error */
	uint64_t missed_cpus; /* that came online meanwhile: what ran there is not recorded */
	uint64_t late_cpus; /* times that one came, or came back: what ran there in the first moment
			       is not recorded */
	uint64_t enabled_ns, running_ns; /* of the kernel's events, added up: no loss */
	bool unwatched;	      /* with crash or on_signals: signals were not seen all the time */
	uint64_t odd;	      /* unexplained moves of the thread by the kernel */
	uint64_t untraced;    /* threads and processes that were not traced, or not to their end */
	uint64_t left_behind; /* those that were, and outlived the command: they run on */
	/*
	 * System calls that the program made and the emulated source does not have:
	 * "ptrace, seccomp". Alone it may do something else. "": none.
	 */
	char lacking[128];
	/*
	 * The first program that was executed and that the emulated source cannot run, and why:
	 * "'/lib/ld-linux.so.2' is not for 64-bit x86". It is counted in untraced. "": none.
	 */
	char unfollowed[320];
	/*
	 * The process that traces did not leave when it was asked to, and was killed: the recording
	 * ends early. What was stepped may have died with it.
	 */
	bool unanswered;
	/*
	 * Executed programs that did not get the rights of their file (set-user-ID, set-group-ID,
	 * capabilities), because a tracer without CAP_SYS_PTRACE stepped them; and the path of the
	 * first.
	 */
	uint64_t rightless;
	char rightless_path[256];
};

struct ptc_source_choice {
	enum ptc_source_kind kind; /* never PTC_SOURCE_AUTO */
	char why[512];		   /* and why not a better one: part of a sentence */
};

/*
 * Which source would be used for @opts (its source, argv, event, CPUs, max_steps, from and to).
 * PTC_SOURCE_PT on a machine without it is PTC_E_UNSUPPORTED, saying what is missing.
 * PTC_SOURCE_AUTO never gives PTC_SOURCE_STEP to attach with: to step what is in
 * service is an outage, and has to be asked for. It may run QEMU for a moment, to
 * see if it fits; nothing of the command.
 */
PTC_API int ptc_source_choose(const struct ptc_record_opts *opts, struct ptc_source_choice *ret,
			      struct ptc_err *err);

/*
 * Run the command and record it. Returns when it has ended or was left. The
 * file is there, whole, on success, and not at all on failure; a command that
 * was already running when something failed runs on, untraced, and is waited
 * for. PTC_E_NO_COMMAND and PTC_E_BAD_COMMAND: it could not be run.
 */
PTC_API int ptc_record(const struct ptc_record_opts *opts, struct ptc_record_result *ret,
		       struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
