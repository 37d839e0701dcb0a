/* SPDX-License-Identifier: MIT */
/* Output of `ptcap crash show`. `ptcap crash core` uses the parser of --pid. */
#ifndef PTC_CLI_CRASH_CRASH_OUT_H
#define PTC_CLI_CRASH_CRASH_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/crash/screen.h"
#include "ptcap/crash_report.h"

/* Parses a process ID into the uint64_t *@ret. Returns false if @s is none. */
bool ptc_take_crash_pid(const char *s, void *ret);

enum { PTC_CRASH_SENTENCE = 512 };

/*
 * Write the cause in one sentence. Not escaped for a terminal, and may contain names from a
 * recording. @width: the longest name of a function, in columns; SIZE_MAX: names are not shortened.
 */
void ptc_crash_sentence(const struct ptc_crash_report *r, size_t width,
			char ret[PTC_CRASH_SENTENCE]);

/* "SIGSEGV", or "signal 77". */
void ptc_crash_signal_name(uint64_t signo, char ret[16]);

/* How to print a report as text. */
struct ptc_crash_view {
	const struct ptc_crash_report *r; /* borrowed, as all members */
	size_t width;			  /* columns of the terminal; SIZE_MAX: --full-names */
	size_t branches;		  /* -n; 0: as many as fit the screen */
	bool color;
	bool verbose;	   /* also the last calls; nothing is folded */
	bool threads;	   /* the stacks of the other threads, too */
	const char *symfs; /* or NULL */
};

/* Print the report. Returns false if out of memory. */
bool ptc_crash_text(const struct ptc_crash_view *v);
/* Print one JSON object. Returns false if out of memory. */
bool ptc_crash_json(const struct ptc_crash_report *r);

/*
 * Parts of the text. Each appends its lines to @s.
 *   answer    the reason, the place in the user's code, its source line, and notes
 *   stack     both stacks, with at most about @frames frames
 *   python    the Python functions, at most @frames of them
 *   calls     the last calls, as a tree
 *   branches  the last @n branches; library calls are folded, if not v->verbose
 *   threads   the other threads, at most @n of them
 */
void ptc_crash_add_answer(const struct ptc_crash_view *v, struct ptc_screen *s);
void ptc_crash_add_stack(const struct ptc_crash_view *v, struct ptc_screen *s, size_t frames);
void ptc_crash_add_python(const struct ptc_crash_view *v, struct ptc_screen *s, size_t frames);
void ptc_crash_add_calls(const struct ptc_crash_view *v, struct ptc_screen *s);
void ptc_crash_add_branches(const struct ptc_crash_view *v, struct ptc_screen *s, size_t n);
void ptc_crash_add_threads(const struct ptc_crash_view *v, struct ptc_screen *s, size_t n);

/*
 * Append the functions of frame @i of @stack: those inlined, and the real one. @number: that of the
 * first. Returns the number of the next function. gdb numbers functions in the same way.
 */
size_t ptc_crash_add_frame(const struct ptc_crash_view *v, struct ptc_screen *s,
			   const struct ptc_crash_stack *stack, size_t i, size_t number);

#endif
