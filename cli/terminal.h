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

/*
 * If standard output is a terminal: let $PAGER (less, if it is not set) show what is written
 * there, and on standard error. Returns its pid, or 0 if there is none. One that is not found is
 * none: nothing is lost. When it is quit before everything was written the process ends, with
 * status 0. At ^C nothing more is written, and the process dies of it once the pager was quit.
 */
pid_t ptc_pager_start(void);
/*
 * Wait until it was quit. Standard output and error are the terminal again. False: it may not have
 * shown everything, which is said. 0: there is none.
 */
bool ptc_pager_finish(pid_t pid);

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
