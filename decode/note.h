/* SPDX-License-Identifier: MIT */
/* What was missing, or assumed, to be told at the end: in words, and as data. */
#ifndef PTC_DECODE_NOTE_H
#define PTC_DECODE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/codefile.h"
#include "ptcap/decode.h"

struct ptc_addrspace;
struct ptc_note;

/* What it costs that addresses are in no mapping. */
struct ptc_cost_nowhere {
	struct ptc_cost cost;
	uint64_t ip, time; /* the first by its time, then by its queue */
	uint32_t queue;
};

/* What a file costs, while it is not to be touched. */
struct ptc_cost_aside {
	struct ptc_cost_aside *next;
	struct ptc_codefile *file; /* lent */
	struct ptc_cost cost;
};

struct ptc_notes {
	struct ptc_cost_nowhere unmapped, kernel;
	bool apart; /* the costs of files are kept here: of a part, for ptc_notes_take */
	struct ptc_cost_aside *aside; /* owned */
	uint64_t lost_records;
	uint64_t late_code, late_ip; /* how often code was mapped later; the first place */
	int32_t alone; /* the first thread that no record gives a process; 0: there is none */
	bool all;      /* list what could not be had even if it was not missed */
	const char *const *extra; /* lent; lines of others, up to NULL; may be NULL */
	struct ptc_note *notes;	  /* owned; made by ptc_notes_line and ptc_notes_missing */
	size_t n, cap;
	size_t *missing; /* owned; the places of files that are missing in @notes */
	size_t nmissing, missing_cap;
	size_t nleft; /* of what was left out, in @notes; more may come at any time */
	bool made;
};

/* A line to come first. One that does not fit in memory is a line less. */
void ptc_notes_add(struct ptc_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Where in the trace. */
struct ptc_note_at {
	uint64_t time; /* 0: not known */
	uint32_t queue;
};

/*
 * Code was missing at @ip: one gap more. Returns what it costs is to be added
 * to: lent, as long as @n and the files of @as.
 */
struct ptc_cost *ptc_notes_nocode(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip,
				  struct ptc_note_at at);

/* Code at @ip was mapped between two times that are known, and taken to have been there. */
void ptc_notes_late_code(struct ptc_notes *n, uint64_t ip);

/* Add what @part, which is apart, has counted. */
void ptc_notes_take(struct ptc_notes *n, const struct ptc_notes *part);
/* Where @n has the cost that is @cost in @part. */
struct ptc_cost *ptc_notes_cost(struct ptc_notes *n, const struct ptc_notes *part,
				const struct ptc_cost *cost);

/* The trace bytes [bytes, bytes + len), from packet to packet, were lost to it. */
void ptc_cost_add(struct ptc_cost *c, const uint8_t *bytes, size_t len);

/* Line @i, or NULL. All is put together at the first call. */
const char *ptc_notes_line(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i);

/* The same for the @i-th file that is missing. False: there are no more. Strings are lent from @n.
 */
bool ptc_notes_missing(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i,
		       struct ptc_missing *ret);

void ptc_notes_release(struct ptc_notes *n);

#endif
