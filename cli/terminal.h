/* SPDX-License-Identifier: MIT */
/* What somebody who sits at a terminal gets: a pager, colours, progress. */
#ifndef PTC_CLI_TERMINAL_H
#define PTC_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/decode.h"

/* Is standard output a terminal that knows colours, and has NO_COLOR not been set? */
bool ptc_terminal_has_colors(void);

/* A pager: $PAGER (less, if it is not set). */
struct ptc_pager {
	pid_t pid; /* 0: there is none */
	int go;	   /* its end tells the child to end, a byte to become the pager */
	int input; /* what the pager reads is written here */
};

#define PTC_PAGER_INIT                                                                             \
	{                                                                                          \
		0, -1, -1                                                                          \
	}

/*
 * If standard output is a terminal: forks the child that is to be the pager, and waits until it is
 * told so. Behind it comes the sandbox, in which no program can be started. A pager that is not
 * found is none: nothing is lost. Where ptcap ends without it, the child ends, too.
 */
void ptc_pager_prepare(struct ptc_pager *p);
/*
 * Lets the pager show what is written to standard output and standard error from here on. When the
 * user quits it before everything was written, the process ends with status 0. At ^C nothing more
 * is written, and the process dies of SIGINT once the user quits the pager.
 */
void ptc_pager_start(struct ptc_pager *p);
/*
 * Waits until the user has quit the pager. Standard output and error are the terminal again.
 * Returns false, and says why, if the pager may not have shown everything.
 */
bool ptc_pager_finish(struct ptc_pager *p);

/* A sink in front of another one, which says on standard error how far it has come. */
struct ptc_progress {
	const struct ptc_sink *sink; /* lent */
	uint64_t first_ns, last_ns;  /* of the trace */
	uint64_t next_ns;	     /* by our own clock: when it is said again */
	bool said;
};

/* False: there is nobody to tell, or no time to go by; @p is not to be used then. */
bool ptc_progress_start(struct ptc_progress *p, const struct ptc_decode *d,
			const struct ptc_sink *sink);
/* ptc_sink.on_items; ctx is a struct ptc_progress. */
int ptc_progress_items(void *ctx, const struct ptc_item *items, size_t n);
/* It has come to @time_ns, if that is known. For what is no item. */
void ptc_progress_at(struct ptc_progress *p, uint64_t time_ns);
void ptc_progress_finish(const struct ptc_progress *p);

#endif
