/* SPDX-License-Identifier: MIT */
/* A recording to be damaged: its bytes, its trace by queue, and its decoded branches. */
#ifndef PTC_TESTS_DAMAGE_BASE_H
#define PTC_TESTS_DAMAGE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

enum { CODE_MAX = 16 };

/* A branch. */
struct flow {
	uint64_t from, to, time;
	int32_t tid;
	uint8_t kind;
};

/* The branches of a queue. */
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

/* The result of decoding a recording. */
struct run {
	struct flows *lanes; /* owned */
	size_t nlanes;
	struct gap *gaps; /* owned */
	size_t ngaps;
	uint64_t items, max_items;
	size_t notes;
	uint64_t digest;      /* over all output: items, notes, counts */
	uint64_t rest;	      /* the same without items */
	struct ptc_sums sums; /* of its branches */
	bool endless;	      /* more than max_items */
	int status;	      /* result of opening or decoding */
	struct ptc_err err;
};

struct piece {
	uint64_t file_off, size, aux_off;
	size_t at; /* offset of its first byte in the lane */
};

/* A queue's trace; offsets are in @bytes. Trace that was dropped between snapshots has no bytes. */
struct lane {
	uint32_t queue;
	struct piece *pieces; /* owned */
	size_t npieces;
	uint8_t *bytes; /* owned */
	size_t len;
	size_t *psb; /* owned: offsets of the PSBs */
	size_t npsb;
	/*
	 * The number of branches decoded from the trace before a PSB, and from it on; -1: not known
	 * yet.
	 */
	ptrdiff_t *front, *back; /* owned */
};

struct base {
	const char *name;
	bool raw;
	bool no_mtc; /* its MTCs become PADs */
	int stuff;   /* enum stuff: the packets added to its trace; -1: none */
	struct ptc_decode_opts opts;
	struct ptc_raw_code code[CODE_MAX];
	size_t ncode;
	char *image;	/* owned: path of the code; NULL: not raw mode */
	uint8_t *bytes; /* owned */
	size_t len;
	struct lane *lanes; /* owned */
	size_t nlanes;
	struct run want;
	int fd; /* of a memory file */
	char path[32];
};

/*
 * "FILE": a perf.data. "raw:DIR", "packet:DIR": pt.bin, image.dump and image.map of DIR, resumed at
 * PSBs or at packets. "mtc:DIR", "cyc:DIR", "rare:DIR": as packet:, with added packets (stuff.h).
 * "nomtc:FILE": a perf.data whose MTCs become PADs. In each queue all trace but about the first
 * @limit bytes becomes PADs. An error ends the program.
 */
void base_open(struct base *b, const char *name, size_t limit);
void base_release(struct base *b);

/*
 * Number of decoding threads, size of their work units, and the engine, as in the options of
 * decode.h. @plain: libipt caches no code blocks.
 */
struct threads {
	unsigned int jobs;
	size_t slice;
	bool plain;
	enum ptc_engine_choice engine;
	bool counts; /* branches are counted instead of listed, where possible */
	bool runs;   /* neighbouring branches come as RUN items */
	bool insns;  /* instructions instead of branches */
};

/* Decodes @bytes like @b's bytes. Caller releases *@ret. */
void base_run(const struct base *b, const uint8_t *bytes, size_t len, uint64_t max_items,
	      struct threads threads, struct run *ret);
void run_release(struct run *r);
/* Returns the branches of @queue, or NULL. */
const struct flows *run_flows(const struct run *r, uint32_t queue);
bool run_has_gap(const struct run *r, const struct gap *g);
/* Returns true if @r reports something that @want does not report. */
bool run_tells_more(const struct run *r, const struct run *want);

/*
 * The fields of two branches that must be equal: from, to and kind; also the thread; also the time.
 */
enum strictness { SAME_FLOW, SAME_THREAD, SAME_TIME };
bool flow_equal(const struct flow *a, const struct flow *b, enum strictness how);

/* Writes @trace, as long as the lane's, into @bytes, which are laid out like @b's. */
void lane_store(const struct base *b, const struct lane *l, const uint8_t *trace, uint8_t *bytes);
/*
 * Return the number of branches that the trace determines: before PSB @k without its last non-time
 * packet; and from the PSB on.
 */
size_t lane_front(const struct base *b, struct lane *l, size_t k);
size_t lane_back(const struct base *b, struct lane *l, size_t k);

/* Returns true if the undamaged trace has a gap over the lane's byte @at. */
bool lane_is_lost(const struct base *b, const struct lane *l, size_t at);

void *must(void *p);
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
