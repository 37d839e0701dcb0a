/* SPDX-License-Identifier: MIT */
/*
 * A recording with pieces of trace and side records, made for a test and decoded: what comes out is
 * a line for each transfer and each gap, in the order of time.
 */
#ifndef PTC_TESTS_RECORDING_H
#define PTC_TESTS_RECORDING_H

#include <stdint.h>
#include <stdio.h>

#include "lib_perfdata.h"
#include "lib_pt.h"
#include "ptcap/decode.h"

/* A tick is a nanosecond. */
extern const struct ptc_time_conv rec_clock_1ns;

struct rec_file {
	char path[64];
	int fd;
};

/* With what decoding it gave. */
struct recording {
	struct pd pd;
	struct rec_file code; /* pt_code */
	struct ptc_buf a, b;  /* trace of two queues, for the test to fill */
	struct ptc_decode_opts opts;
	struct ptc_decode_stats stats;
	char note[512]; /* the first */
	struct ptc_decode *d;
	FILE *out;
	char *text;
	size_t len;
	uint64_t last; /* time of the last item that had one */
	uint64_t runs; /* RUN items, which are printed as what they stand for */
};

/* A file in memory; its descriptor is to be closed. */
struct rec_file rec_make_file(const void *bytes, size_t len);
/* Empty, of one event intel_pt, with the clock @conv; pt_code is to be mapped. To be ended. */
void rec_begin(struct recording *t, const struct ptc_time_conv *conv);
/* pt_code at @addr of process @tid. */
void rec_map_code(struct recording *t, int32_t tid, uint64_t time, uint64_t addr);
/* rec_begin with rec_clock_1ns; process 7 has pt_code at 0x1000. */
void rec_begin_code(struct recording *t);
/* The same; process 8 has pt_code at @addr. */
void rec_begin_two(struct recording *t, uint64_t addr);
/* rec_begin_code and rec_first_syscall. */
void rec_begin_traced(struct recording *t);
/* A piece of queue @idx; @b is released and empty. */
void rec_piece(struct recording *t, uint32_t idx, int32_t tid, int32_t cpu, uint64_t off,
	       struct ptc_buf *b);
/* As a sink: the lines of them to the out of the recording @ctx. */
int rec_on_items(void *ctx, const struct ptc_item *items, size_t n);
/*
 * Decode @bytes as the options say: text, which is to be freed, stats and note are what came out.
 * Returns what failed, or 0.
 */
int rec_run_bytes(struct recording *t, const void *bytes, size_t len, struct ptc_err *err);
void rec_end(struct recording *t);
/* Decoded by either engine, and in runs, these lines come out. */
void rec_expect(struct recording *t, const char *lines);
/* The trace in @t->a is the first piece of queue 0, of thread 7: rec_expect, then rec_end. */
void rec_expect_one(struct recording *t, const char *lines);

/* On at @time at the syscall of the code at @base, and off by it. */
void rec_syscall_at(struct ptc_buf *b, uint64_t time, uint64_t base);
void rec_psb_at(struct ptc_buf *b, uint64_t time);
/* The trace in @t->a gets a PSB at 1 and a syscall at 10 in the code at 0x1000. */
void rec_first_syscall(struct recording *t);
/* Thread @from leaves @cpu at @time; thread @to comes to @cpu at @time + 1. */
void rec_switch(struct recording *t, uint32_t cpu, int32_t from, int32_t to, uint64_t time);

/* Word @word of what AUXTRACE_INFO says behind TIME_CONV becomes @value. */
enum { REC_INFO_SCHED_SWITCH = 7, REC_INFO_SNAPSHOTS = 8 };
void rec_set_info(struct recording *t, int word, uint8_t value);

#endif
