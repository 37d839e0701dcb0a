/* SPDX-License-Identifier: MIT */
/* Features for an interactive terminal: its width, pager, colors, progress. */
#ifndef PTC_CLI_COMMON_TERMINAL_H
#define PTC_CLI_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/decode.h"

/* Return whether standard output is a terminal with colors, and NO_COLOR is not set. */
bool ptc_terminal_has_colors(void);

/*
 * Returns the number of columns for tables: of the terminal at standard output, or of $COLUMNS, or
 * 80. At least 40. Must be called before ptc_pager_start.
 */
size_t ptc_terminal_columns(void);

/* A pager: $PAGER, or less if that is not set. */
struct ptc_pager {
	pid_t pid; /* 0: none */
	int go;	   /* a byte makes the child the pager; closing it ends the child */
	int input; /* the pager's input */
};

#define PTC_PAGER_INIT                                                                             \
	{                                                                                          \
		0, -1, -1                                                                          \
	}

/*
 * If standard output is a terminal: fork the child that later becomes the pager. The sandbox,
 * entered after this call, forbids starting programs. If the pager's program is not found, no pager
 * is used. If ptcap exits early, the child exits too.
 */
void ptc_pager_prepare(struct ptc_pager *p);
/*
 * Redirect standard output and standard error to the pager from now on. If the user quits early,
 * the process ends with status 0. After ^C output stops, and the process dies of SIGINT once the
 * user quits the pager.
 */
void ptc_pager_start(struct ptc_pager *p);
/*
 * Wait until the user quits the pager, and restore standard output and error. Returns false after a
 * message if the pager may not have shown everything.
 */
bool ptc_pager_finish(struct ptc_pager *p);

/* A sink in front of another sink, which prints progress to standard error. */
struct ptc_progress {
	const struct ptc_sink *sink; /* borrowed */
	uint64_t first_ns, last_ns;  /* of the trace */
	uint64_t next_ns;	     /* next print, by our own clock */
	bool said;
};

/* Returns false if there is no terminal, or the trace has no times. @p must not be used then. */
bool ptc_progress_start(struct ptc_progress *p, const struct ptc_decode *d,
			const struct ptc_sink *sink);
/* ptc_sink.on_items; ctx is a struct ptc_progress. */
int ptc_progress_items(void *ctx, const struct ptc_item *items, size_t n);
/* Update progress to @time_ns, if known. For data that are not items. */
void ptc_progress_at(struct ptc_progress *p, uint64_t time_ns);
void ptc_progress_finish(const struct ptc_progress *p);

#endif
