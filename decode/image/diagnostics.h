/* SPDX-License-Identifier: MIT */
/* Notes about missing or assumed input, reported after a run: as text lines and as data. */
#ifndef PTC_DECODE_IMAGE_DIAGNOSTICS_H
#define PTC_DECODE_IMAGE_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/image/codefile.h"
#include "ptcap/decode.h"

struct ptc_addrspace;
struct ptc_note;

/* Cost of addresses that are in no known mapping. */
struct ptc_cost_nowhere {
	struct ptc_cost cost;
	uint64_t ip, time; /* of the first gap, by time, then by queue */
	uint32_t queue;
};

/* Cost of one code file, collected here while the file itself must not be changed. */
struct ptc_cost_aside {
	struct ptc_cost_aside *next;
	struct ptc_codefile *file; /* lent */
	struct ptc_cost cost;
};

struct ptc_notes {
	struct ptc_cost_nowhere unmapped, kernel;
	bool apart;		      /* collect costs of files in @aside, for ptc_notes_take() */
	struct ptc_cost_aside *aside; /* owned */
	uint64_t lost_records;
	uint64_t late_code, late_ip; /* code that was mapped later: how often, the first address */
	int32_t alone;		     /* the first thread without a process in any record; 0: none */
	bool all;		     /* list unreadable files even if decoding did not need them */
	const char *const *extra; /* lent, may be NULL; lines from other modules, ends with NULL */
	struct ptc_note *notes;	  /* owned; filled by ptc_notes_line() and ptc_notes_missing() */
	size_t n, cap;
	size_t *missing; /* owned; indexes in @notes of the missing files */
	size_t nmissing, missing_cap;
	size_t nleft; /* left-out entries that @notes already has; more may follow at any time */
	bool made;
};

/* Adds a line in front of the generated ones. Out of memory: the line is dropped. */
void ptc_notes_add(struct ptc_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Position in the trace. */
struct ptc_note_at {
	uint64_t time; /* 0: not known */
	uint32_t queue;
};

/*
 * Counts one more gap, because code is missing at @ip. Returns the cost that the gap adds to: lent,
 * valid as long as @n and the files of @as.
 */
struct ptc_cost *ptc_notes_nocode(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip,
				  struct ptc_note_at at);

/* Records an assumption: the code at @ip was mapped between two known times, before it ran. */
void ptc_notes_late_code(struct ptc_notes *n, uint64_t ip);

/* Adds the counts of @part, whose flag apart is set. */
void ptc_notes_take(struct ptc_notes *n, const struct ptc_notes *part);
/* Returns true if @n has counts for ptc_notes_take(). */
bool ptc_notes_are_any(const struct ptc_notes *n);
/* Adds the lost trace bytes [bytes, bytes + len) to @c. A packet begins at @bytes. */
void ptc_cost_add(struct ptc_cost *c, const uint8_t *bytes, size_t len);

/* Returns line @i, or NULL if there are fewer lines. The first call builds all lines. */
const char *ptc_notes_line(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i);

/*
 * Gets the @i-th missing file. Returns false if there are fewer. The strings are lent from @n or
 * @files.
 */
bool ptc_notes_missing(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i,
		       struct ptc_missing *ret);

void ptc_notes_release(struct ptc_notes *n);

#endif
