/* SPDX-License-Identifier: MIT */
/* Option values shared by several commands. The functions return false for an invalid value. */
#ifndef PTC_CLI_COMMON_ARGS_H
#define PTC_CLI_COMMON_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/capture.h"

enum { PTC_MAX_TARGETS = 256 };

/* What a message expects as their values (ptc_value_error). */
#define PTC_ARGS_MMAP	  "DATA[,AUX]: pages, or sizes with B, K, M or G"
#define PTC_ARGS_PIDS	  "process IDs, for example 12,34"
#define PTC_ARGS_DURATION "a duration, for example 500ms or 10s"
#define PTC_ARGS_SIZE	  "a number of bytes, or a size with K, M or G"
#define PTC_ARGS_SOURCES  "auto, pt, step or emu"
#define PTC_ARGS_TIDS	  "thread IDs, for example 12,34"

/* perf's -m DATA[,AUX]: pages, or sizes with a suffix. */
bool ptc_args_mmap(const char *s, struct ptc_record_opts *o);
/* Bytes, not 0, with an optional suffix B, K, M or G as for -m. */
bool ptc_args_bytes(const char *s, uint64_t *ret);
bool ptc_args_source(const char *s, enum ptc_source_kind *ret);
/* Append ids such as "1,2,3" to @list, which has PTC_MAX_TARGETS entries. */
bool ptc_args_ids(const char *s, pid_t *list, size_t *n);
/*
 * Add "SEGV,SIGUSR1,34" to *@set, bit N-1 for signal N. SIGKILL is refused, because it cannot be
 * observed.
 */
bool ptc_args_signals(const char *s, uint64_t *set);

#endif
