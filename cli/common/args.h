/* SPDX-License-Identifier: MIT */
/* Option values of several commands. The functions return false for an invalid value. */
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

/*
 * Parsers for PTC_PARSED (cli/common/option_table.h).
 *   ptc_args_mmap    perf's -m DATA[,AUX]: pages, or sizes with a suffix; struct ptc_record_rings
 *   ptc_args_bytes   bytes, not 0, with an optional suffix B, K, M or G as for -m; uint64_t
 *   ptc_args_source  enum ptc_source_kind
 *   ptc_args_signals adds "SEGV,SIGUSR1,34" to a set, bit N-1 for signal N; uint64_t. SIGKILL is
 *                    refused, because it cannot be observed
 */
bool ptc_args_mmap(const char *s, void *rings);
bool ptc_args_bytes(const char *s, void *ret);
bool ptc_args_source(const char *s, void *ret);
bool ptc_args_signals(const char *s, void *set);

/* Append ids such as "1,2,3" to @list, which has PTC_MAX_TARGETS entries. */
bool ptc_args_ids(const char *s, pid_t *list, size_t *n);

#endif
