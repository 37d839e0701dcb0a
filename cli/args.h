/* SPDX-License-Identifier: MIT */
/* Values of options that several commands have. False: it is none. */
#ifndef PTC_CLI_ARGS_H
#define PTC_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/capture.h"

enum { PTC_MAX_TARGETS = 256 };

/* What a message expects as their values (ptc_value_error). */
#define PTC_ARGS_MMAP "DATA[,AUX]: pages, or sizes with B, K, M or G"
#define PTC_ARGS_PIDS "process IDs, for example 12,34"
#define PTC_ARGS_DURATION "a duration, for example 500ms or 10s"
#define PTC_ARGS_SIZE "a number of bytes, or a size with K, M or G"
#define PTC_ARGS_SOURCES "auto, pt, step or emu"
#define PTC_ARGS_TIDS "thread IDs, for example 12,34"

/* perf's -m DATA[,AUX]: pages, or sizes with a suffix. */
bool ptc_args_mmap(const char *s, struct ptc_record_opts *o);
/* Bytes, not 0; a suffix B, K, M or G is as of -m. */
bool ptc_args_bytes(const char *s, uint64_t *ret);
bool ptc_args_source(const char *s, enum ptc_source_kind *ret);
/* "1,2,3" behind what is in @list already, which has room for PTC_MAX_TARGETS. */
bool ptc_args_ids(const char *s, pid_t *list, size_t *n);
/* "SEGV,SIGUSR1,34" as bits, bit N-1 for signal N, added to *@set. Not SIGKILL, which nobody sees.
 */
bool ptc_args_signals(const char *s, uint64_t *set);

#endif
