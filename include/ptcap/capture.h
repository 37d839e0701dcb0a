/* SPDX-License-Identifier: MIT */
/* Recording: takes a command, or running processes, and writes a perf.data. */
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

/* Sources of a trace. */
enum ptc_source_kind {
	/*
	 * Intel PT if the machine has it. Otherwise, for a command: the emulated source if it
	 * supports the command and all options here, or else the step source.
	 */
	PTC_SOURCE_AUTO = 0,
	PTC_SOURCE_PT,	 /* Intel PT, through perf_event_open */
	PTC_SOURCE_STEP, /* the software PMU that single-steps under ptrace */
	PTC_SOURCE_EMU,	 /* commands only: the program runs in QEMU user mode (qemu-x86_64) */
};

/* Return values of ptc_record_callbacks.on_wake. */
enum ptc_wake_action {
	PTC_WAKE_GO_ON = 0,
	PTC_WAKE_LEAVE,	   /* end the recording; the command keeps running, untraced */
	PTC_WAKE_SNAPSHOT, /* take a snapshot, if opts->snapshot; requests may share one */
	PTC_WAKE_LAST,	   /* continue; a last snapshot follows at the end, as with LEAVE */
};

/* Progress of a recording. */
struct ptc_progress {
	uint64_t elapsed_ns; /* since the target began to run */
	uint64_t insns;	     /* instructions, software sources only; otherwise 0 */
	uint64_t aux_bytes;  /* bytes of trace in the file or still buffered for it */
};

/* Value of ptc_taken.behind_ns: the kernel's clock cannot be read, so the delay is unknown. */
#define PTC_BEHIND_UNKNOWN UINT64_MAX

/* A snapshot that was taken. */
struct ptc_taken {
	uint64_t n;	  /* number of the snapshot, from 1 */
	uint64_t bytes;	  /* bytes of trace in it */
	const char *path; /* path of its file; borrowed for the call */
	uint64_t wanted;  /* PTC_WAKE_SNAPSHOT requests from the start up to this snapshot */
	/*
	 * ns between reaching a place of opts->at and the snapshot. 0: taken for another reason, or
	 * before the instruction ran. Or PTC_BEHIND_UNKNOWN
	 */
	uint64_t behind_ns;
	/*
	 * ns from the request until the trace of all threads was off. The request of a caller is
	 * the wake-up, before on_wake runs. The request of a timer is its due time. For a place or
	 * a signal it is the time when the recording noticed it. 0: the trace had ended.
	 */
	uint64_t stopped_after_ns;
	uint64_t off_ns; /* ns from then until the trace of all threads was on again; or 0 */
};

/* A code location in a program. */
struct ptc_place {
	/*
	 * The ELF file that contains the code, as the kernel names it: an absolute path without
	 * symbolic links. NULL: addr is a virtual address of the process.
	 */
	const char *file;
	uint64_t addr; /* file offset, or virtual address if file is NULL */
};

/* Action of an address filter. The PMU limits how many filters there can be. */
enum ptc_filter_action {
	PTC_FILTER_WITHIN = 0, /* trace only this range and other WITHIN ranges */
	PTC_FILTER_START,      /* start tracing at this address */
	PTC_FILTER_STOP,       /* stop tracing at this address, or anywhere in this range */
};

/* An address filter: an action for a range of code, or for one address. */
struct ptc_addr_filter {
	enum ptc_filter_action action;
	/* NULL: addr is a virtual address (kernel or process); otherwise a file offset */
	const char *file;
	uint64_t addr, size; /* bytes; size 0: a single address */
};

/*
 * Snapshot trigger: a code location, and a divider. A snapshot is taken each @count-th time a
 * thread reaches @place. 0 means 1.
 */
struct ptc_crossing {
	struct ptc_place place;
	uint64_t count;
};

/* Error injection: kinds of errors put into the branch stacks of a software source. */
enum ptc_spoil {
	PTC_SPOIL_NONE = 0,
	PTC_SPOIL_TARGET,	/* one bit of the target address of an entry is flipped */
	PTC_SPOIL_SOURCE,	/* one bit of the source address of an entry is flipped */
	PTC_SPOIL_DROP,		/* an entry is missing, neither the newest nor the oldest */
	PTC_SPOIL_TOP,		/* the newest entry is duplicated, and the oldest is missing */
	PTC_SPOIL_SWAP,		/* two neighbouring entries are swapped */
	PTC_SPOIL_SHIFT,	/* the newest entries are missing */
	PTC_SPOIL_STALE_OLDEST, /* the three oldest entries are the newest of another thread */
	PTC_SPOIL_TYPE,		/* an entry has a wrong branch type */
	PTC_SPOIL_FLAG,		/* the branch type of an entry is missing */
};

/* Error injection into the branch stacks of a software source. */
struct ptc_lbr_spoil {
	enum ptc_spoil mode;
	uint32_t shift; /* PTC_SPOIL_SHIFT: entries missing, <= PTC_LBR_SHIFT_MAX */
	uint64_t rate;	/* errors go into one of this many stacks, at random; not 0 */
	uint64_t seed;	/* seed of the random numbers */
};

/*
 * Ground truth of one branch stack of a software source. First comes one note for the sample
 * itself. Then one note per entry changed by error injection, with the original values.
 */
struct ptc_lbr_note {
	uint64_t time_ns, ip; /* time and instruction pointer of the sample */
	int tid;
	uint32_t n; /* entries of the stack, before errors were injected */
	/* PTC_SPOIL_NONE: this note is the sample; otherwise the kind of error */
	enum ptc_spoil mode;
	/* Entry that was changed; 0 is the newest. from, to: its original addresses. */
	uint32_t index;
	uint64_t from, to;
};

#define PTC_LBR_SIZE_MAX    512u
#define PTC_LBR_SHIFT_MAX   16u
#define PTC_VCPUS_MAX	    64u
#define PTC_AT_MAX	    4u		/* number of hardware breakpoints of the CPU */
#define PTC_AUX_SAMPLE_MAX  (60u << 10) /* bytes; fits a record with every other field */
#define PTC_SAMPLER_DEFAULT "cpu-clock:u"
#define PTC_LBR_DEFAULT	    "cycles:u" /* default with branch stacks */

/* What to record: argv, pids, tids, all_cpus, cpus or cgroup is required. */
struct ptc_record_target {
	char *const *argv; /* the command, NULL-terminated; NULL: record what already runs */
	/*
	 * Running targets: processes with all their threads, and single threads. Each is recorded
	 * until it ends or the recording ends. It then runs on unchanged.
	 */
	const pid_t *pids, *tids;
	size_t npids, ntids;
	/*
	 * Alternative target, kernel sources only: everything that runs on all CPUs, or on the CPUs
	 * of @target.cpus ("0-3,8"). @target.cgroup restricts it to one cgroup, named by its path
	 * below the mount point of its hierarchy. If argv is given, the command's run time is the
	 * length of the recording. Not with pids or tids.
	 */
	const char *cpus;   /* NULL: all */
	const char *cgroup; /* NULL: any cgroup */
	bool all_cpus;	    /* everything on all CPUs; implied by cpus and cgroup */
	/*
	 * Kernel sources: one ring pair for each thread that exists now. New threads are not
	 * recorded.
	 */
	bool per_thread;
	const sigset_t *sigmask; /* signal mask the command starts with; NULL: the caller's */
};

/* Where the trace comes from. */
struct ptc_record_source {
	enum ptc_source_kind kind; /* PTC_SOURCE_AUTO: the best one */
	/*
	 * The event in perf's syntax: "intel_pt/cyc,psb_period=3/u", or another PMU with an AUX
	 * area, whose trace is recorded unchanged. An event such as "dummy:u" records sideband
	 * records only. NULL: "intel_pt//u". Not with a software source.
	 */
	const char *event;
	/*
	 * Address filters of the trace. PTC_E_UNSUPPORTED: the PMU has no filters, fewer than
	 * nfilters, or not this kind. Filters in files work for tasks only, not for CPUs. Kernel
	 * sources only.
	 */
	const struct ptc_addr_filter *filters;
	size_t nfilters;
	/*
	 * Emulated source only: number of virtual CPUs, each with a ring pair. Threads are spread
	 * over the virtual CPUs and sometimes moved. 0: one. At most PTC_VCPUS_MAX.
	 */
	unsigned int vcpus;
	/*
	 * Emulated source only, otherwise PTC_E_USAGE. Bytes of memory for the program's code. Each
	 * block of code is stored once. Whole pages, 64 KiB to 16 GiB; 0: default (1 GiB). The
	 * recording ends when the memory is full (ptc_record_result.cut_short).
	 */
	uint64_t code_size;
	/*
	 * Kernel sources only, for events that trace the kernel (the default event is then
	 * "intel_pt//"). Keep a copy of the kernel's code from /proc/kcore, including modules and
	 * BPF programs. @output.path is then a folder, as with perf record --kcore. PTC_E_PERM: no
	 * permission to read /proc/kcore. PTC_E_NOT_EXIST: there is no /proc/kcore. PTC_E_BUSY:
	 * modules were loaded and unloaded too often to get a consistent copy.
	 */
	bool kcore;
	bool no_retcomp; /* disable RET compression (IA32_RTIT_CTL.DisRETC) */
	/* Bytes between PSBs (IA32_RTIT_CTL.PSBFreq), 2048 << 0..15; 0: default (2048). */
	uint32_t psb_period;
};

/* The ring buffers. */
struct ptc_record_rings {
	/* Bytes per ring; a power of two, at least 8192; 0: default. */
	uint64_t data_size, aux_size;
	/*
	 * Emulated source only, otherwise PTC_E_USAGE. True: trace that does not fit the rings is
	 * lost and reported, as with hardware. False: the program waits for space.
	 */
	bool lossy;
	/*
	 * Real-time priority (SCHED_FIFO, 1 to 99) of the thread that drains the rings; 0: none.
	 * PTC_E_PERM: no permission for that priority.
	 */
	unsigned int realtime;
};

/* Snapshots of an overwritten AUX ring, and the state of a crashing process. */
struct ptc_record_snapshot {
	/*
	 * The AUX ring is overwritten in a loop, and only snapshots of it reach the file. A
	 * snapshot is taken each time on_wake returns PTC_WAKE_SNAPSHOT, and at the end. Sideband
	 * records are recorded all the time. PTC_E_USAGE: with @rings.lossy, or with a source that
	 * cannot pause.
	 */
	bool enabled;
	/*
	 * Save the state of a recorded process (ptcap/crash.h) when a signal is about to kill the
	 * process. With @snapshot.enabled, also take a snapshot. With @snapshot.series, that
	 * snapshot contains the state. If a request ends the recording of running processes, the
	 * recording has their states, too. PTC_E_USAGE: with CPUs.
	 */
	bool crash;
	/*
	 * With @snapshot.crash or @snapshot.stacks: save no memory of the process, neither stacks
	 * nor code that is in no file.
	 */
	bool no_memory;
	/*
	 * With @snapshot.series: each snapshot also has the states (ptcap/crash.h) of the processes
	 * in @target.pids, or of the command and its descendants. They stand still for that for
	 * some milliseconds. The software sources save the states of all processes that they
	 * record. With kernel sources, a process that ptrace refuses has no state: @snapshot.crash
	 * already traces it.
	 */
	bool stacks;
	/*
	 * With @snapshot.enabled: take one when one of these signals is about to be delivered,
	 * whether it kills or not. Bit N-1 is signal N. The emulated source does not see ignored
	 * signals. Same restrictions as @snapshot.crash.
	 */
	uint64_t on_signals;
	/*
	 * With @snapshot.enabled: take one when a thread reaches one of these places, at most
	 * PTC_AT_MAX. The step source stops before the instruction, the emulated source before its
	 * block. With kernel sources the thread
	 * runs on for a moment (ptc_taken.behind_ns), and each CPU counts separately.
	 */
	const struct ptc_crossing *at;
	size_t nat;
	/*
	 * With @snapshot.enabled: write each snapshot into a file of its own, "OUTPUT.000" and so
	 * on. Each file is complete: all that the rings hold from the first PSB on, with the
	 * mappings and threads of that time. Sideband records are kept in memory. Old ones are
	 * replaced by a summary of the state they lead to. With a count of 1 the file is OUTPUT.
	 */
	bool series;
	bool no_exit;  /* @snapshot.series: no snapshot when the target ends by itself */
	bool no_last;  /* @snapshot.series: no snapshot at a stop request or at a limit */
	uint64_t size; /* newest bytes of each ring to save, at least 4096; 0: all */
	/* @snapshot.series: end after so many snapshots, as at a limit; 0: no limit */
	uint64_t count;
	/* Snapshot interval, and delay before the first one; 0: no timer. */
	uint64_t every_ns, after_ns;
};

/* Samples with branch stacks, or with trace. */
struct ptc_record_lbr {
	/*
	 * Kernel sources only. The AUX ring is overwritten in a loop, and each sample of
	 * @lbr.sampler contains the newest bytes of it: this many, at most PTC_AUX_SAMPLE_MAX.
	 * @lbr.sampler counts while the trace is on. The file has no other trace. Not with
	 * @snapshot.enabled. 0: no trace in samples.
	 */
	uint64_t aux_sample;
	/*
	 * Syntax of @source.event; must be an event that counts. NULL: PTC_SAMPLER_DEFAULT, or
	 * PTC_LBR_DEFAULT with branch stacks.
	 */
	const char *sampler;
	/* Events per sample, or samples per second; both 0: the period given in @lbr.sampler. */
	uint64_t period, freq;
	/*
	 * Samples with branch stacks, in addition to the trace: PERF_SAMPLE_BRANCH_* flags. 0: no
	 * branch stacks.
	 *
	 * Kernel sources: samples of @lbr.sampler. With @lbr.aux_sample the same samples have both.
	 * PTC_E_UNSUPPORTED: the CPU has no branch stacks. PTC_E_BUSY: the CPU has none while Intel
	 * PT is in use.
	 *
	 * Software sources: @lbr.sampler is "branches" (NULL) or "instructions", counted per CPU of
	 * the source. Only user space is known. Neither misprediction nor cycles of a branch are
	 * known.
	 */
	uint64_t branches;
	/* Entries of a software source's stack, at most PTC_LBR_SIZE_MAX; 0: 32. */
	uint32_t size;
	/* Error injection for tests of readers; software sources only. */
	struct ptc_lbr_spoil spoil;
};

/* Which part of the run is recorded. */
struct ptc_record_range {
	/*
	 * Limits; 0: none. The recording ends at the first limit reached. A command then runs on
	 * untraced, and ptc_record waits for its end. Attached targets are detached. max_steps
	 * counts instructions of a software source. With Intel PT it is PTC_E_USAGE.
	 */
	uint64_t max_steps;
	uint64_t max_ns;
	/*
	 * Record all threads from one place to another, each time a thread passes. Elsewhere the
	 * program runs at full speed. The instruction at @range.from is recorded, that at @range.to
	 * is not. Without @range.from, recording starts at the beginning and ends at @range.to, as
	 * at a limit. NULL: record everything. Software sources only, otherwise PTC_E_USAGE.
	 */
	const struct ptc_place *from, *to;
};

/* The recording. */
struct ptc_record_output {
	const char *path; /* path of the perf.data to write */
	/*
	 * Compress sideband records, as `perf record -z`: 1 (fast) to 22 (small); 0: off. The trace
	 * itself is not compressed.
	 */
	unsigned int compression;
	/* The user's command line for the CMDLINE feature; NULL-terminated. */
	const char *const *cmdline;
};

/* Rights to give up. */
struct ptc_record_rights {
	/*
	 * Drop capabilities(7) that the recording does not need, and set no_new_privs, once the
	 * events are open. This applies to the calling thread, and to threads and processes that
	 * ptc_record starts later. Nothing is restored when ptc_record returns, so use it only in a
	 * program that then does nothing else. A command keeps its capabilities, because it is
	 * forked before. The software sources start their command later, so they ignore this with
	 * argv.
	 */
	bool drop;
	/*
	 * With @rights.drop: one more file name that the caller will create, rename or remove
	 * later, so that the right to do so is kept. May be NULL.
	 */
	const char *other_output;
};

/* Functions that ptc_record calls, and their first arguments. */
struct ptc_record_callbacks {
	/*
	 * Ground truth: called for every branch that a software source executed, in order, on the
	 * thread that called ptc_record. NULL: not called. Software sources only, otherwise
	 * PTC_E_USAGE.
	 */
	void (*truth)(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);
	void *truth_ctx;
	/*
	 * With @callbacks.truth: called for each note of a branch stack, after the branch that
	 * preceded the sample. May be NULL.
	 */
	void (*lbr_truth)(void *ctx, const struct ptc_lbr_note *note);
	/*
	 * @callbacks.wake_fd, typically a signalfd, is polled while recording; -1: none. If it is
	 * readable, @callbacks.on_wake is called on the thread that called ptc_record, and decides
	 * how to go on. Without @callbacks.on_wake, 0 also means none. @cmd is the command's pid,
	 * or 0 if it does not run yet or there is no command. PTC_WAKE_LEAVE ends a recording
	 * within a second, however busy the target is. With opts->snapshot.stacks or .crash, the
	 * copy of the stacks may take ten seconds more, or one second after another PTC_WAKE_LEAVE.
	 */
	int wake_fd;
	enum ptc_wake_action (*on_wake)(void *ctx, pid_t cmd);
	void *wake_ctx;
	/*
	 * Called once with the chosen source, before the command runs or after all targets are
	 * attached. @why explains the choice. May be NULL.
	 */
	void (*on_start)(void *ctx, enum ptc_source_kind chosen, const char *why);
	void *start_ctx;
	/*
	 * Called with details about the recording that are useful at high verbosity only. May be
	 * NULL.
	 */
	void (*on_note)(void *ctx, const char *text);
	void *note_ctx;
	/* Called when a snapshot is in its file. May be NULL. */
	void (*on_snapshot)(void *ctx, const struct ptc_taken *t);
	void *snapshot_ctx;
	/*
	 * Called once at the end with the ledger, which is also in the file. All pointers are
	 * borrowed for the call. May be NULL.
	 */
	void (*on_ledger)(void *ctx, const struct ptc_ledger_ring *rings, size_t nrings,
			  const struct ptc_ledger_event *events, size_t nevents);
	void *ledger_ctx;
	/* Called about once a second while recording. May be NULL. */
	void (*on_progress)(void *ctx, const struct ptc_progress *p);
	void *progress_ctx;
};

/*
 * Initialize with PTC_RECORD_OPTS_INIT, or with zeros and the size: both give the defaults.
 * Required: output.path, and at least one of argv, pids, tids, all_cpus, cpus and cgroup of target.
 * PTC_E_USAGE: the message names an option that is invalid or conflicts with another.
 */
struct ptc_record_opts {
	size_t size; /* sizeof(struct ptc_record_opts) */
	struct ptc_record_target target;
	struct ptc_record_source source;
	struct ptc_record_rings rings;
	struct ptc_record_snapshot snapshot;
	struct ptc_record_lbr lbr;
	struct ptc_record_range range;
	struct ptc_record_output output;
	struct ptc_record_rights rights;
	struct ptc_record_callbacks callbacks;
};

/* The defaults: the best source, no limits, no callbacks. */
#ifdef __cplusplus
static inline struct ptc_record_opts ptc_record_opts_init(void)
{
	struct ptc_record_opts opts = {};

	opts.size = sizeof(opts);
	opts.callbacks.wake_fd = -1;
	return opts;
}
#define PTC_RECORD_OPTS_INIT ptc_record_opts_init()
#else
/* clang-format off */
#define PTC_RECORD_OPTS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_record_opts), .callbacks = { .wake_fd = -1 }                              \
	}
/* clang-format on */
#endif

/* Result of a recording, with all losses. */
struct ptc_record_result {
	enum ptc_source_kind source; /* the source that was used */
	int status;		     /* of the command, in the format of waitpid(2) */
	bool left_running;	     /* the command still runs, so status is not valid */
	bool limited;		     /* max_steps, max_ns, or @to was reached */
	bool unreached;		     /* @from was never reached, so nothing is recorded */
	bool unmet;		     /* @at was never reached, or not @count times */
	/* code_size was too small: complete up to that point, then ended */
	bool cut_short;
	uint64_t insns, transfers; /* executed; software sources only */
	uint64_t unshown;   /* branches in loops that make no packet: struct ptc_ledger_source */
	uint64_t aux_bytes; /* trace bytes in the file */
	/* Trace bytes that a software source made: stored, lost, or in no snapshot; otherwise 0. */
	uint64_t made_aux;
	uint64_t snapshots; /* snapshots taken, including the last one at the end */
	uint64_t crashes;   /* with @crash: processes whose state is in the recording */
	/*
	 * With @crash: processes that handled a fault, and then exited with a failure. Their state
	 * at the last fault was saved.
	 */
	uint64_t handled;
	/*
	 * Emulated processes that died without a core dump, because kernel.core_pattern names a
	 * program. Only the kernel may start it.
	 */
	uint64_t undumped;
	/*
	 * States of live processes in the recording or in all snapshots: with @stacks, and with
	 * @crash if the recording of running processes was ended by a request
	 */
	uint64_t states;
	/*
	 * With @at: counted arrivals at a place while the trace was off for a snapshot; no snapshot
	 * was taken for these.
	 */
	uint64_t unseen;
	uint64_t samples;    /* samples of events; with aux_sample: samples that have trace */
	uint64_t data_bytes; /* bytes of sideband records, before compression */
	uint64_t packed_in, packed_out; /* bytes before and after compression */
	uint64_t file_bytes;
	uint64_t kcore_bytes; /* with kcore: bytes of the kernel's code */
	/* ns from the first record to the last. @series: how long recording ran */
	uint64_t duration_ns;
	/* Losses: each is 0 in a complete recording. */
	bool disk_full;	       /* the disk was full, and nothing was written after that */
	uint64_t unwritten;    /* trace bytes that were read after the disk was full */
	uint64_t lost_records; /* sideband records that did not fit the ring */
	/* Trace bytes that did not fit, or were overwritten unread; without snapshots. */
	uint64_t lost_aux;
	uint64_t truncated, partial; /* AUX records with the TRUNCATED, PARTIAL flag */
	/* AUX records with the COLLISION flag: another tracer interfered */
	uint64_t collisions;
	uint64_t restarts;  /* times that a ring was full, and its events were enabled again */
	uint64_t throttled; /* times that the kernel throttled an event */
	/*
	 * unscheduled: events that did not run all the time they were enabled. failed: events that
	 * ended in error state
	 */
	uint64_t unscheduled, failed;
	uint64_t missed_cpus; /* CPUs that came online while recording, and were not recorded */
	uint64_t late_cpus;   /* times that a CPU came online: its first moment is not recorded */
	uint64_t enabled_ns, running_ns; /* sums over the kernel's events; not a loss */
	/* With @crash or @on_signals: signals were not watched all the time. */
	bool unwatched;
	uint64_t odd; /* unexplained changes of a thread's instruction pointer */
	/* Threads and processes that were not traced, or not until they ended. */
	uint64_t untraced;
	/* Traced threads and processes that outlived the command, and still run. */
	uint64_t left_behind;
	/*
	 * System calls that the program made and the emulated source does not support: "ptrace,
	 * seccomp". The program may behave differently without the emulated source. "": none.
	 */
	char lacking[128];
	/*
	 * The first executed program that the emulated source cannot run, and the reason:
	 * "'/lib/ld-linux.so.2' is not for 64-bit x86". Also counted in untraced. "": none.
	 */
	char unfollowed[320];
	/*
	 * The tracer process did not stop when asked to, and was killed: the recording ends early.
	 * Single-stepped processes may have died with it.
	 */
	bool unanswered;
	/*
	 * Executed programs that did not get the privileges of their file (set-user-ID,
	 * set-group-ID, capabilities), because a tracer without CAP_SYS_PTRACE single-stepped them.
	 * rightless_path is the path of the first.
	 */
	uint64_t rightless;
	char rightless_path[256];
	/*
	 * With @crash and @series: more processes that a signal killed while the last file was
	 * written. Their states are in no file.
	 */
	uint64_t late_crashes;
	/*
	 * Number of states of running processes that could not be saved, and the reason of the
	 * first. A process counts once for each snapshot.
	 */
	uint64_t missing_states;
	char missing_why[320];
};

/* Result of ptc_source_choose. */
struct ptc_source_choice {
	enum ptc_source_kind kind; /* never PTC_SOURCE_AUTO */
	char why[512];		   /* why this source, and why no better one: part of a sentence */
};

/*
 * Choose the source for @opts, from its source, argv, event, CPUs, max_steps, from and to. On
 * success *@ret has the source and the reason.
 *
 * PTC_E_UNSUPPORTED: PTC_SOURCE_PT on a machine without Intel PT; the message says what is missing.
 * PTC_SOURCE_AUTO never chooses PTC_SOURCE_STEP for a running target, because single-stepping a
 * live service is an outage. It may run QEMU briefly to test it, but never the command.
 */
PTC_API int ptc_source_choose(const struct ptc_record_opts *opts, struct ptc_source_choice *ret,
			      struct ptc_err *err);

/*
 * Run the command, or attach to the targets of @opts, and record. Returns when the recording ended:
 * 0 and *@ret, or an error.
 *
 * On success the complete file is at opts->output. On failure there is no file. A command that
 * already ran at the failure runs on untraced, and ptc_record waits for its end. PTC_E_NO_COMMAND,
 * PTC_E_BAD_COMMAND: the command could not be run.
 */
PTC_API int ptc_record(const struct ptc_record_opts *opts, struct ptc_record_result *ret,
		       struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
