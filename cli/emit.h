/* SPDX-License-Identifier: MIT */
/*
 * Fields of a recording on stdout, once written for both forms: as text
 * (" name=value", quoted and escaped as in show.h; rows on lines of their own,
 * behind a "#") or as a JSON object a line.
 */
#ifndef PTC_CLI_EMIT_H
#define PTC_CLI_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

enum { PTC_EMIT_DEPTH = 8, PTC_EMIT_BYTES = 64 };

struct ptc_emit {
	bool json;
	bool failed; /* out of memory: the output is not whole */
	unsigned int depth, rows;
	struct {
		char kind; /* '{', '[', or 'R': rows */
		bool any;
	} at[PTC_EMIT_DEPTH];
};

/* A name is NULL in a list, and at the outermost level. Each of these is closed by ptc_emit_end. */
void ptc_emit_object(struct ptc_emit *e, const char *name);
void ptc_emit_list(struct ptc_emit *e, const char *name); /* of plain values */
void ptc_emit_rows(struct ptc_emit *e, const char *name); /* of ptc_emit_row */
void ptc_emit_row(struct ptc_emit *e);
void ptc_emit_end(struct ptc_emit *e);
/* Close what was opened since @depth was e->depth: after damage. */
void ptc_emit_unwind(struct ptc_emit *e, unsigned int depth);

void ptc_emit_u64(struct ptc_emit *e, const char *name, uint64_t v);
void ptc_emit_i64(struct ptc_emit *e, const char *name, int64_t v);
void ptc_emit_bool(struct ptc_emit *e, const char *name, bool v);
/* In JSON a string: numbers there lose bits above 2^53. */
void ptc_emit_hex(struct ptc_emit *e, const char *name, uint64_t v);
void ptc_emit_text(struct ptc_emit *e, const char *name, const char *s); /* NULL: JSON's null */
void ptc_emit_word(struct ptc_emit *e, const char *name, const char *s); /* needs no quotes */
/* In seconds; in JSON in ns, and "_ns" is put behind the name, which must be there. */
void ptc_emit_time(struct ptc_emit *e, const char *name, uint64_t ns);
/* Hex digits; of more than PTC_EMIT_BYTES the first, and "..." */
void ptc_emit_bytes(struct ptc_emit *e, const char *name, struct ptc_cur c);

#endif
