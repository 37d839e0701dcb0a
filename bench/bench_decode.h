/* SPDX-License-Identifier: MIT */
/* Parts of bench_decode. */
#ifndef PTC_BENCH_DECODE_H
#define PTC_BENCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

enum { MAX_PAIRS = 64 };

extern const char *bd_engine; /* of ptcap's runs */

/* Prints @what, and exits. */
_Noreturn void bd_die(const char *what);
/* Exits with the message of @err if @rc is negative. */
void bd_must(int rc, const struct ptc_err *err);
/* Sorts @v. Returns its median. */
double bd_median(double *v, size_t n);
/* Seconds of CLOCK_MONOTONIC. */
double bd_wall_now(void);
/* Returns whether to measure another pair, after @done of at most @pairs since @begin. */
bool bd_goes_on(size_t done, size_t pairs, double begin);

/* The library, beside a bare loop around libipt. */
void bench_engine(const char *path, size_t pairs);
/* The text of `ptcap decode`, beside `perf script`. */
void bench_text(const char *path, size_t pairs);
/* `ptcap decode --last`. */
void bench_last(const char *path, size_t pairs);
/* Profiles from calls, and `ptcap convert --callchains` beside `perf inject`. */
void bench_profiles(const char *path, size_t pairs);

#endif
