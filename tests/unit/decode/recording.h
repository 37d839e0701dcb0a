/* SPDX-License-Identifier: MIT */
/*
 * A recording with AUXTRACE and sideband records, made and decoded by a test. The result is one
 * line for each branch and each gap, in order of time.
 */
#ifndef PTC_TESTS_RECORDING_H
#define PTC_TESTS_RECORDING_H

#include <stdint.h>
#include <stdio.h>

#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"

/* 1 ns per tick. */
extern const struct ptc_time_conv rec_clock_1ns;

struct rec_file {
	char path[64];
	int fd;
};

/* A recording, and the result of decoding it. */
struct recording {
	struct pd pd;
	struct rec_file code; /* pt_code */
	struct ptc_buf a, b;  /* trace of two queues, for the test to fill */
	struct ptc_decode_opts opts;
	struct ptc_decode_stats stats;
	char note[512]; /* the first note */
	struct ptc_decode *d;
	FILE *out;
	char *text;
	size_t len;
	uint64_t last; /* time of the last item with a time */
	uint64_t runs; /* number of RUN items, which are printed as single branches */
};

/* Creates a file in memory. The caller closes its descriptor. */
struct rec_file rec_make_file(const void *bytes, size_t len);
/* Begins an empty recording: one event intel_pt, with the clock @conv. Call rec_end() later. */
void rec_begin(struct recording *t, const struct ptc_time_conv *conv);
/* Maps pt_code at @addr of process @tid. */
void rec_map_code(struct recording *t, int32_t tid, uint64_t time, uint64_t addr);
/* rec_begin() with rec_clock_1ns; process 7 has pt_code at 0x1000. */
void rec_begin_code(struct recording *t);
/* The same; process 8 has pt_code at @addr. */
void rec_begin_two(struct recording *t, uint64_t addr);
/* rec_begin_code() and rec_first_syscall(). */
void rec_begin_traced(struct recording *t);
/* Adds an AUXTRACE record for queue @idx; @b is released and empty. */
void rec_piece(struct recording *t, uint32_t idx, int32_t tid, int32_t cpu, uint64_t off,
	       struct ptc_buf *b);
/* Sink callback: prints items to the out of recording @ctx. */
int rec_on_items(void *ctx, const struct ptc_item *items, size_t n);
/*
 * Decodes @bytes as the options say. Sets text, which the caller frees, stats and note. Returns 0,
 * or an error code.
 */
int rec_run_bytes(struct recording *t, const void *bytes, size_t len, struct ptc_err *err);
void rec_end(struct recording *t);
/* Decodes with either engine, and in runs: each time the result must be @lines. */
void rec_expect(struct recording *t, const char *lines);
/*
 * Makes the trace in @t->a the first AUXTRACE record of queue 0 and thread 7. Then rec_expect() and
 * rec_end().
 */
void rec_expect_one(struct recording *t, const char *lines);

/* Tracing is enabled at @time at the syscall of the code at @base, and disabled by it. */
void rec_syscall_at(struct ptc_buf *b, uint64_t time, uint64_t base);
void rec_psb_at(struct ptc_buf *b, uint64_t time);
/* Adds to @t->a a PSB at time 1 and a syscall at time 10 in the code at 0x1000. */
void rec_first_syscall(struct recording *t);
/* Thread @from leaves @cpu at @time; thread @to comes to @cpu at @time + 1. */
void rec_switch(struct recording *t, uint32_t cpu, int32_t from, int32_t to, uint64_t time);

/* Sets word @word of AUXTRACE_INFO behind TIME_CONV to @value. */
enum { REC_INFO_SCHED_SWITCH = 7, REC_INFO_SNAPSHOTS = 8 };
void rec_set_info(struct recording *t, int word, uint8_t value);

#endif
