/* SPDX-License-Identifier: MIT */
/* Starts a command in two steps: a child that waits, then its exec. */
#ifndef PTC_CAPTURE_HOST_LAUNCH_H
#define PTC_CAPTURE_HOST_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_launch {
	char *path; /* owned: the file to execute */
	int fd;	    /* socket to the child; -1: none */
	pid_t pid;  /* 0: none, or released to exec: then this module no longer ends it */
	/* borrowed until the exec: the command's environment; NULL: that of this process */
	char *const *env;
};

#define PTC_LAUNCH_INIT                                                                            \
	{                                                                                          \
		NULL, -1, 0, NULL                                                                  \
	}

/*
 * Forks the child that will become @argv, with the signal mask @mask (NULL: the caller's). The
 * child waits for ptc_launch_let_go.
 */
int ptc_launch_fork(struct ptc_launch *l, char *const *argv, const sigset_t *mask, pid_t *ret_pid,
		    struct ptc_err *err);

/* Lets the child continue to its exec. */
int ptc_launch_let_go(struct ptc_launch *l, struct ptc_err *err);

/*
 * Call after let_go. Waits until the exec has succeeded or failed. On failure the child is reaped,
 * and the result is PTC_E_NO_COMMAND or PTC_E_BAD_COMMAND. A tracer calls this only after it has
 * seen the exec or the child's end (@reaped).
 */
int ptc_launch_result(struct ptc_launch *l, bool reaped, struct ptc_err *err);

/* Ends a child that still waits. Accepts PTC_LAUNCH_INIT. */
void ptc_launch_release(struct ptc_launch *l);

#endif
