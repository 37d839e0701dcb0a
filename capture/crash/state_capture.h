/* SPDX-License-Identifier: MIT */
/* Records the state of a process that a signal is about to kill (ptcap/crash.h). */
#ifndef PTC_CAPTURE_CRASH_STATE_CAPTURE_H
#define PTC_CAPTURE_CRASH_STATE_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/buf.h"
#include "capture/host/maps.h"

struct ptc_thread_status;

struct ptc_state_thread {
	pid_t tid;
	bool in_call; /* regs belong to the start of a system call that has not returned */
	const struct user_regs_struct *regs;
};

#define PTC_STATE_NO_TIME UINT64_MAX /* unknown */

struct ptc_copy_budget;

/* All pointers are borrowed. */
struct ptc_state {
	pid_t pid, tid; /* process and thread that receive the signal */
	const siginfo_t *info;
	uint64_t time_ns;
	const struct ptc_state_thread *threads;
	size_t nthreads;
	bool no_memory; /* record no memory */
	/* Only for an emulated program, whose process is QEMU's: */
	const struct ptc_maps *maps; /* its mappings; NULL: those in /proc */
	uint64_t base;		     /* the process has the program's address 0 here */
	uint64_t auxv;		     /* with @maps: address of the auxiliary vector; 0: unknown */
	pid_t reader;		     /* a living thread of the process; 0: @tid */
	struct ptc_copy_budget *budget; /* borrowed; only for process_copy. NULL: of its own */
	/* The process has copied its memory [from, from + len) to its own address @at. len 0: not
	 */
	struct {
		uint64_t from, len, at;
	} copy;
};

/* Returns true if @sig is in the set @signals: bit N-1 stands for signal N. */
static inline bool ptc_signals_have(uint64_t signals, int sig)
{
	return sig >= 1 && sig <= 64 && signals >> (sig - 1) & 1;
}

/*
 * Returns true if @sig, about to be delivered to @tid, will end the process. It is then neither
 * handled nor ignored, and its default action ends processes. Returns false if that cannot be found
 * out, because the thread is gone.
 */
bool ptc_state_is_fatal(const char *proc, pid_t tid, int sig);

/*
 * Appends the state as records. Parts that cannot be read are left out: the process may be killed
 * at any time.
 */
void ptc_state_put(struct ptc_buf *b, const struct ptc_state *s);

/* --- parts of a state, for live processes --- */

/* Append one kind of records. Parts that cannot be read are left out. */
void ptc_state_put_signal(struct ptc_buf *b, const struct ptc_state *s);
void ptc_state_put_thread(struct ptc_buf *b, const struct ptc_state *s,
			  const struct ptc_state_thread *t);
/*
 * More about thread @tid, after its record. @status: what /proc tells. @stop_signal, @unstopped:
 * see struct ptc_crash_task.
 */
void ptc_state_put_task(struct ptc_buf *b, const struct ptc_state *s, pid_t tid,
			const struct ptc_thread_status *status, int stop_signal, bool unstopped);
/* The auxiliary vector, and the memory by which a debugger finds the shared libraries. */
void ptc_state_put_auxv(struct ptc_buf *b, const struct ptc_state *s);
void ptc_state_put_maps(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps);
/* Code that is in no file, such as generated code. */
void ptc_state_put_code(struct ptc_buf *b, const struct ptc_state *s, const struct ptc_maps *maps);
/* The memory at @addr, as read before. @cut: number of bytes after it that were left out. */
void ptc_state_put_bytes(struct ptc_buf *b, const struct ptc_state *s, uint64_t addr,
			 const void *bytes, size_t len, uint64_t cut);

/* The part of a stack to record: kept bytes at address from, of size bytes up to its end. */
struct ptc_state_span {
	uint64_t from, size, kept;
};

/*
 * Finds the memory around the futex on which the thread may wait, which has the owner of its lock.
 * Returns false if the thread waits for no futex.
 */
bool ptc_state_futex(const struct ptc_state_thread *t, struct ptc_state_span *ret);

/* Finds the stack of stack pointer @sp. Returns false if there is no stack. */
bool ptc_state_stack(const struct ptc_maps *maps, uint64_t sp, struct ptc_state_span *ret);

#endif
