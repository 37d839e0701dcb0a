/* SPDX-License-Identifier: MIT */
/* The kinds of processors of this machine, with their microcode: /proc/cpuinfo. */
#ifndef PTC_CAPTURE_HOST_PROCESSOR_KINDS_H
#define PTC_CAPTURE_HOST_PROCESSOR_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/ledger.h"

/* Starts zeroed. */
struct ptc_processor_kinds {
	struct ptc_ledger_processor *items; /* owned; in order of their first CPUs in the text */
	size_t n, cap;
};

void ptc_processor_kinds_release(struct ptc_processor_kinds *k);

/*
 * Add the CPUs of @text, which has the form of /proc/cpuinfo (Linux,
 * arch/x86/kernel/cpu/proc.c). Missing numbers are 0. Returns false if out of memory.
 */
bool ptc_processor_kinds_parse(struct ptc_processor_kinds *k, const char *text);

/*
 * Add the CPUs of this machine. None if /proc/cpuinfo cannot be read. @root is a prefix for paths:
 * "", except in tests. Returns false if out of memory.
 */
bool ptc_processor_kinds_read(struct ptc_processor_kinds *k, const char *root);

#endif
