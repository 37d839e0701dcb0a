/* SPDX-License-Identifier: MIT */
/* What /proc tells about one thread: its system call, the file of that call, and its numbers. */
#ifndef PTC_CAPTURE_CRASH_THREAD_STATUS_H
#define PTC_CAPTURE_CRASH_THREAD_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { PTC_THREAD_FILE = 256 };

struct ptc_thread_status {
	uint64_t own_tid; /* its ID in the PID namespace of the process; 0: unknown */
	uint64_t cpu_ns;  /* CPU time so far; 0: unknown */
	/* "/dev/pts/0", "socket:[1234]": file of its system call, cut off if too long; "": none */
	char file[PTC_THREAD_FILE];
};

/* Sets the numbers of thread @tid. */
void ptc_thread_status_read(struct ptc_thread_status *ret, pid_t tid);

/*
 * Sets the file, if the first argument of the system call in @regs is a descriptor. Returns false
 * if there is no file.
 */
bool ptc_thread_status_file(struct ptc_thread_status *ret, pid_t tid,
			    const struct user_regs_struct *regs);

/* The system call in which a thread sleeps. */
struct ptc_thread_call {
	uint64_t nr, args[6];
	uint64_t sp, ip;
};

/* Reads /proc/TID/syscall, without a stop. Returns false if the thread runs, or if it is not known.
 */
bool ptc_thread_status_call(pid_t tid, struct ptc_thread_call *ret);

/* Parses the text of that file. */
bool ptc_thread_status_parse(const char *text, struct ptc_thread_call *ret);

#endif
