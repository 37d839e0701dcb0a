/* SPDX-License-Identifier: MIT */
/* A recording to be damaged: its bytes, its trace by queue, and what it decodes to. */
#ifndef PTC_TESTS_DAMAGE_BASE_H
#define PTC_TESTS_DAMAGE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

enum { CODE_MAX = 16 };

/* A transfer. */
struct flow {
	uint64_t from, to, time;
	int32_t tid;
	uint8_t kind;
};

/* Those of a queue. */
struct flows {
	uint32_t queue;
	struct flow *v; /* owned */
	size_t n, cap;
};

struct gap {
	uint64_t off, len;
	uint32_t queue;
	uint8_t cause;
};

/* What a recording decodes to. */
struct run {
	struct flows *lanes; /* owned */
	size_t nlanes;
	struct gap *gaps; /* owned */
	size_t ngaps;
	uint64_t items, max_items;
	size_t notes;
	uint64_t digest;      /* of all that was told: items, notes, counts */
	uint64_t rest;	      /* the same without items */
	struct ptc_sums sums; /* of its transfers */
	bool endless;	      /* more than max_items */
	int status;	      /* of opening it, or of decoding it */
	struct ptc_err err;
};

struct piece {
	uint64_t file_off, size, aux_off;
	size_t at; /* of its first byte in the lane's */
};

/* A queue's trace; offsets are in @bytes. What was not kept between snapshots has none there. */
struct lane {
	uint32_t queue;
	struct piece *pieces; /* owned */
	size_t npieces;
	uint8_t *bytes; /* owned */
	size_t len;
	size_t *psb; /* owned: where PSBs are */
	size_t npsb;
	/* How many transfers the trace in front of a PSB, and from it on, decodes to; -1: not
	 * known yet. */
	ptrdiff_t *front, *back; /* owned */
};

struct base {
	const char *name;
	bool raw;
	bool no_mtc; /* its MTCs are made PADs */
	int stuff;   /* enum stuff: what is put into its trace; -1: nothing */
	struct ptc_decode_opts opts;
	struct ptc_raw_code code[CODE_MAX];
	size_t ncode;
	char *image;	/* owned: where code is; NULL: not of raw mode */
	uint8_t *bytes; /* owned */
	size_t len;
	struct lane *lanes; /* owned */
	size_t nlanes;
	struct run want;
	int fd; /* of a file in memory */
	char path[32];
};

/*
 * "FILE": a perf.data. "raw:DIR", "packet:DIR": pt.bin, image.dump and image.map of DIR, resumed
 * at PSBs or at packets; "mtc:DIR", "cyc:DIR", "rare:DIR": as packet:, stuffed as stuff.h says.
 * "nomtc:FILE": a perf.data whose MTCs are made PADs. Of each queue all but about
 * the first @limit bytes of trace are made PADs. What cannot be had ends the program.
 */
void base_open(struct base *b, const char *name, size_t limit);
void base_release(struct base *b);

/*
 * Threads to decode with, what each takes at a time, and the engine; as the options of decode.h.
 * @plain: libipt remembers no blocks of code.
 */
struct threads {
	unsigned int jobs;
	size_t slice;
	bool plain;
	enum ptc_engine_choice engine;
	bool counts; /* transfers are no items where that can be */
	bool runs;   /* those that are side by side come as RUN items */
};

/* Decode @bytes as if they were @b's. *@ret is to be released. */
void base_run(const struct base *b, const uint8_t *bytes, size_t len, uint64_t max_items,
	      struct threads threads, struct run *ret);
void run_release(struct run *r);
/* Those of @queue, or NULL. */
const struct flows *run_flows(const struct run *r, uint32_t queue);
bool run_has_gap(const struct run *r, const struct gap *g);
/* Does @r tell of something that @want does not? */
bool run_tells_more(const struct run *r, const struct run *want);

/* What has to be the same of two transfers: from, to and kind; and the thread; and the time. */
enum strictness { SAME_FLOW, SAME_THREAD, SAME_TIME };
bool flow_equal(const struct flow *a, const struct flow *b, enum strictness how);

/* Write @trace, as long as the lane's, into @bytes, which are as @b's. */
void lane_store(const struct base *b, const struct lane *l, const uint8_t *trace, uint8_t *bytes);
/*
 * Transfers that are decided by what is in front of PSB @k, without the last packet of it that is
 * not of time; and from the PSB on.
 */
size_t lane_front(const struct base *b, struct lane *l, size_t k);
size_t lane_back(const struct base *b, struct lane *l, size_t k);

/* Does the undamaged trace have a gap that lasts over the lane's byte @at? */
bool lane_is_lost(const struct base *b, const struct lane *l, size_t at);

void *must(void *p);
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
