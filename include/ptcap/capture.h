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

#ifdef __cplusplus
extern "C" {
#endif

enum ptc_source_kind {
	PTC_SOURCE_AUTO = 0, /* Intel PT if the machine has it, else the step source */
	PTC_SOURCE_PT,	     /* Intel PT, through perf_event_open */
	PTC_SOURCE_STEP,     /* the software PMU that single-steps under ptrace */
	PTC_SOURCE_EMU,	     /* commands only: the program runs in qemu-x86_64 */
};

enum ptc_wake_action {
	PTC_WAKE_GO_ON = 0,
	PTC_WAKE_LEAVE, /* end the recording; the command runs on, untraced */
};

/* How far a recording is. */
struct ptc_progress {
	uint64_t elapsed_ns; /* since the target ran */
	uint64_t insns;	     /* a software source's; else 0 */
	uint64_t aux_bytes;  /* of trace, in the file or on the way there */
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

struct ptc_record_opts {
	size_t size;	    /* sizeof(struct ptc_record_opts) */
	const char *output; /* path of the perf.data */
	char *const *argv;  /* the command, NULL-terminated; NULL: attach instead */
	/*
	 * What runs already: processes with all their threads, and single threads.
	 * Recorded until they end or the recording is left, and left as they were.
	 */
	const pid_t *pids, *tids;
	size_t npids, ntids;
	enum ptc_source_kind source;
	uint64_t data_size,
		aux_size; /* bytes of the rings; powers of two, at least 8192; 0: default */
	/*
	 * The emulated source loses what does not fit the rings, as hardware does, and
	 * says so; without, the program waits. Not with other sources: PTC_E_USAGE.
	 */
	bool lossy;
	/*
	 * Bytes in which the emulated source keeps the program's code, each block of it
	 * once: whole pages, 64 KiB to 16 GiB; 0: default (1 GiB). When they are used up
	 * the recording ends (cut_short). Not with other sources: PTC_E_USAGE.
	 */
	uint64_t code_size;
	bool no_retcomp;	     /* switch RET compression off */
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

	/*
	 * @wake_fd is polled while recording; when it is readable @on_wake is called,
	 * on the thread that called ptc_record, and decides. -1: none. @cmd is the
	 * command's pid. Typical: a signalfd.
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
	/* Called every second or so while recording. May be NULL. */
	void (*on_progress)(void *ctx, const struct ptc_progress *p);
	void *progress_ctx;
};

/* Everything a recording must account for. */
struct ptc_record_result {
	enum ptc_source_kind source; /* the one that was used */
	int status;		     /* of the command, as waitpid gives it */
	bool left_running;	     /* status is not valid: the command runs on */
	bool limited;		     /* max_steps or max_ns was reached, or to */
	bool unreached;		     /* from never was, so there is nothing */
	bool cut_short;		     /* code_size did not suffice: whole up to there, no further */
	uint64_t insns, transfers;   /* software sources */
	uint64_t aux_bytes;	     /* trace bytes in the file */
	uint64_t made_aux;   /* those that a software source made: in the file or lost; or 0 */
	uint64_t data_bytes; /* bytes of side records in the file */
	uint64_t file_bytes;
	uint64_t duration_ns;
	/* losses, 0 each in a complete recording */
	uint64_t lost_records;	     /* side records that did not fit the ring */
	uint64_t lost_aux;	     /* trace bytes that did not fit, or were overwritten */
	uint64_t truncated, partial; /* AUX records with those flags */
	uint64_t odd;		     /* unexplained moves of the thread by the kernel */
	uint64_t untraced;    /* threads and processes that were not traced, or not to their end */
	uint64_t left_behind; /* those that were, and outlived the command: they run on */
};

/*
 * Which source would be used for @want, and why: *ret_why is a sentence
 * ("no Intel PT here: ..."), static or lent until the next call. PTC_SOURCE_PT
 * on a machine without it is PTC_E_UNSUPPORTED, saying what is missing. With
 * @attach PTC_SOURCE_AUTO never gives PTC_SOURCE_STEP: to step what is in service
 * is an outage, and has to be asked for.
 */
PTC_API int ptc_source_choose(enum ptc_source_kind want, bool attach, enum ptc_source_kind *ret,
			      const char **ret_why, struct ptc_err *err);

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
