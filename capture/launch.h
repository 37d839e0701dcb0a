/* SPDX-License-Identifier: MIT */
/* Starting a command in two steps: a child that waits, then its exec. */
#ifndef PTC_CAPTURE_LAUNCH_H
#define PTC_CAPTURE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_launch {
	char *path;	  /* owned: what will be executed */
	int fd;		  /* to the child; -1: none */
	pid_t pid;	  /* 0: none, or let go and no longer ours to end */
	char *const *env; /* lent, until the exec: of the command; NULL: ours */
};

#define PTC_LAUNCH_INIT                                                                            \
	{                                                                                          \
		NULL, -1, 0, NULL                                                                  \
	}

/*
 * Find what execvp(3) would run for @file. *ret is malloc'ed. PTC_E_NO_COMMAND
 * if there is none, PTC_E_BAD_COMMAND if it may not be executed.
 */
int ptc_launch_find(const char *file, char **ret, struct ptc_err *err);

/*
 * Make the child that will become @argv, with the signal mask @mask (NULL: the
 * caller's). It waits to be let go.
 */
int ptc_launch_fork(struct ptc_launch *l, char *const *argv, const sigset_t *mask, pid_t *ret_pid,
		    struct ptc_err *err);

/* Let the child go on to its exec. */
int ptc_launch_let_go(struct ptc_launch *l, struct ptc_err *err);

/*
 * After let_go: wait until the exec has happened or failed; then the child is
 * gone and reaped, and the reason is PTC_E_NO_COMMAND or PTC_E_BAD_COMMAND. A
 * tracer calls it only once it has seen the exec or the child's end (@reaped).
 */
int ptc_launch_result(struct ptc_launch *l, bool reaped, struct ptc_err *err);

/* A child that was not let go is ended. Accepts PTC_LAUNCH_INIT. */
void ptc_launch_release(struct ptc_launch *l);

#endif
