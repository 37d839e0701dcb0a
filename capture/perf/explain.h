/* SPDX-License-Identifier: MIT */
/* The remedy for what perf_event_open and mmap of its rings refuse. */
#ifndef PTC_CAPTURE_PERF_EXPLAIN_H
#define PTC_CAPTURE_PERF_EXPLAIN_H

#include <stdint.h>

#include "ptcap/error.h"

/* perf_event_open failed with @sys for @what ("the Intel PT event"). */
int ptc_explain_open(struct ptc_err *err, int sys, const char *what);

/* mmap of a ring of @bytes failed with @sys. */
int ptc_explain_mmap(struct ptc_err *err, int sys, const char *what, uint64_t bytes);

#endif
