/* SPDX-License-Identifier: MIT */
/*
 * Ahead of the decoding: what side records make of each queue, so that a part of it can be decoded
 * before what is in front of that. It reads them once more, and keeps who runs, and with what code,
 * from when on.
 */
#ifndef PTC_DECODE_SCOUT_H
#define PTC_DECODE_SCOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/process.h"
#include "decode/sideband.h"
#include "decode/view.h"

struct ptc_decode;

/* Who runs on a queue from a time on. */
struct ptc_context {
	uint64_t from_ns;
	int32_t pid, tid, cpu;
	struct ptc_view *view; /* owned; what it has mapped */
};

/* A queue's contexts, ascending; from the first on all are known until ptc_scout.upto. */
struct ptc_contexts {
	struct ptc_context *v; /* owned */
	size_t n, cap;
};

struct ptc_scout {
	struct ptc_decode *d; /* lent */
	struct ptc_procs procs;
	struct ptc_sideband sideband; /* an order of its own; the rest is lent */
	struct ptc_contexts *lanes;   /* owned; one for each of the decode's */
	struct ptc_kernel_now kernel; /* what theirs is during that */
	struct ptc_view *kernel_view; /* owned; NULL: there is none */
	struct ptc_view *nobody;      /* owned; of who is not known; NULL: nobody asked yet */
	uint64_t upto;		      /* they are known up to this time, included */
	uint64_t views;		      /* made until now */
	size_t weight;		      /* of the views, and of contexts in bytes */
	bool failed;		      /* nothing more will be known */
};

int ptc_scout_new(struct ptc_decode *d, struct ptc_scout **ret, struct ptc_err *err);
/* All that was lent must have been given back. */
void ptc_scout_free(struct ptc_scout *s);

/* Read on to @time, unless too much is being kept. */
void ptc_scout_move(struct ptc_scout *s, uint64_t time);

/*
 * The contexts of lane @lane from @from to @s->upto; for ptc_scout_give_back. False: no memory, or
 * they are not known.
 */
bool ptc_scout_lend(struct ptc_scout *s, size_t lane, uint64_t from, struct ptc_contexts *ret);
void ptc_scout_give_back(struct ptc_scout *s, struct ptc_contexts *c);

/* Or are they forgotten? */
bool ptc_scout_knows(const struct ptc_scout *s, size_t lane, uint64_t from);

/* What is in front of @time will not be asked for. */
void ptc_scout_forget(struct ptc_scout *s, size_t lane, uint64_t time);

/* The last context that begins not behind @time; the first if none does. There is one. */
const struct ptc_context *ptc_context_at(const struct ptc_contexts *c, uint64_t time);

#endif
