/* SPDX-License-Identifier: MIT */
/* Output of `ptcap stacks`. */
#ifndef PTC_CLI_STACKS_STACKS_OUT_H
#define PTC_CLI_STACKS_STACKS_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/stacks.h"

enum { PTC_STACKS_SENTENCE = 1024 };

/*
 * Writes what thread @t waits for: "in read(0, 0x7ffc0010, 1024), fd 0 -> /dev/pts/0". Not escaped
 * for a terminal, and may contain names from a recording.
 */
void ptc_stacks_sentence(const struct ptc_stack_process *p, const struct ptc_stack_thread *t,
			 char ret[PTC_STACKS_SENTENCE]);

/* Writes "thread 12 (worker)", with the same restriction. */
void ptc_stacks_thread_name(const struct ptc_crash_state_thread *t, char *ret, size_t size);

struct ptc_stacks_view {
	size_t frames; /* at most so many frames of each stack */
	bool color, verbose;
};

struct ptc_stacks_show_args {
	const char *input;
	struct ptc_stacks_opts opts;
	struct ptc_stacks_view view; /* without color */
	bool json, no_pager, no_sandbox;
};

/* Enters the sandbox, and prints the states in the recording. Returns the exit code. */
int ptc_stacks_show(struct ptc_stacks_show_args *a);

/* Print text, or one JSON object. Both return false if out of memory. */
bool ptc_stacks_text(const struct ptc_stacks_report *r, const struct ptc_stacks_view *v);
bool ptc_stacks_json(const struct ptc_stacks_report *r, const struct ptc_stacks_view *v);

#endif
