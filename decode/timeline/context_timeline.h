/* SPDX-License-Identifier: MIT */
/*
 * Reads sideband records ahead of decoding, so that a part of a queue can be decoded before the
 * parts in front of it. The timeline keeps which thread runs on each queue from when on, and with
 * what code. It reads the records a second time, into a table of processes of its own.
 */
#ifndef PTC_DECODE_TIMELINE_CONTEXT_TIMELINE_H
#define PTC_DECODE_TIMELINE_CONTEXT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/image/addrspace_snapshot.h"
#include "decode/sideband/process.h"
#include "decode/sideband/queue_map.h"
#include "decode/sideband/sideband.h"
#include "decode/timeline/queue_lists.h"

/* The thread that runs on a queue from a time on. */
struct ptc_context {
	uint64_t from_ns;
	int32_t pid, tid, cpu;
	bool lost;	       /* records of this queue were lost at from_ns */
	struct ptc_view *view; /* owned; its mappings */
};

/* A queue's contexts, ascending. From the first one on, all are known up to ptc_timeline.upto. */
struct ptc_contexts {
	struct ptc_context *v; /* owned */
	size_t n, cap;
	bool ended; /* the queue needs no more contexts */
};

/* What a timeline is made from. All of it is lent, and must outlive the timeline. */
struct ptc_timeline_conf {
	const struct ptc_queue_map *queues;
	struct ptc_procs *procs; /* with the code; state after the records applied so far */
	const struct ptc_sideband *sideband; /* the records that are applied to @procs */
	bool timed; /* without times nothing is ahead: all records are applied to @procs already */
};

struct ptc_timeline {
	struct ptc_timeline_conf conf;
	struct ptc_procs ahead;	       /* state after the records up to @upto */
	struct ptc_procs *procs;       /* lent; &ahead. Without times: @conf.procs */
	struct ptc_sideband sideband;  /* has its own order; the rest is lent */
	struct ptc_contexts *lanes;    /* owned; one for each queue */
	struct ptc_view *kernel_view;  /* owned; NULL: there is none */
	struct ptc_view *nobody;       /* owned; for unknown processes; NULL: not requested yet */
	struct ptc_queue_lists of_cpu; /* queues of each CPU */
	struct ptc_queue_lists of_tid, of_pid; /* queues by the thread and process that run */
	struct ptc_touched *touched; /* owned; lists of queues, by the records of one time */
	size_t ntouched, touched_cap;
	bool begun;	/* each queue has a context at time 0 */
	uint64_t upto;	/* contexts are known up to this time, included */
	uint64_t views; /* created so far */
	size_t weight;	/* of the views and contexts, in bytes */
	bool failed;	/* no more contexts will be known */
};

/* The contexts of one queue, as far as they are known. */
struct ptc_queue_contexts {
	const struct ptc_contexts
		*contexts;	    /* lent; may grow with each call of ptc_queue_contexts_upto() */
	struct ptc_timeline *scout; /* lent; can read on; NULL: cannot */
	uint64_t upto;		    /* without @scout: known up to this time, included */
};

/* Returns true if all contexts up to @ns are known. Reads on if possible. */
bool ptc_queue_contexts_upto(const struct ptc_queue_contexts *k, uint64_t ns);

int ptc_timeline_new(const struct ptc_timeline_conf *conf, struct ptc_timeline **ret,
		     struct ptc_err *err);
/* All lent contexts must have been given back. */
void ptc_timeline_free(struct ptc_timeline *s);

/* Reads on to @time, or less far if too much memory is in use. */
void ptc_timeline_move(struct ptc_timeline *s, uint64_t time);

/*
 * Lends the contexts of queue @lane from @from to @s->upto. Return them with
 * ptc_timeline_give_back(). Returns false if they are not known, or out of memory.
 */
bool ptc_timeline_lend(struct ptc_timeline *s, size_t lane, uint64_t from,
		       struct ptc_contexts *ret);
void ptc_timeline_give_back(struct ptc_timeline *s, struct ptc_contexts *c);

/* Returns false if the contexts at @from were forgotten. */
bool ptc_timeline_knows(const struct ptc_timeline *s, size_t lane, uint64_t from);

/* Queue @lane needs no more contexts. */
void ptc_timeline_end(struct ptc_timeline *s, size_t lane);

/* Forgets contexts in front of @time. */
void ptc_timeline_forget(struct ptc_timeline *s, size_t lane, uint64_t time);

/*
 * Returns the last context that begins at or before @time, or the first one. @c must not be empty.
 */
const struct ptc_context *ptc_context_at(const struct ptc_contexts *c, uint64_t time);

/*
 * Returns the first time behind @from, up to @upto (included), at which other code appears at @ip
 * of the process that runs at @from. 0: no context up to @upto shows that. *@ret_known: all
 * contexts up to that time, or @upto, are known.
 */
uint64_t ptc_queue_contexts_next_code(const struct ptc_queue_contexts *k, uint64_t from,
				      uint64_t ip, uint64_t upto, bool *ret_known);

#endif
