/* SPDX-License-Identifier: MIT */
/*
 * Printing fields of a recording to stdout, with one interface for text and JSON. Text is "
 * name=value", quoted and escaped as in text_escape.h, with rows on separate lines that begin with
 * "#". JSON is one object per line.
 */
#ifndef PTC_CLI_COMMON_FIELD_WRITER_H
#define PTC_CLI_COMMON_FIELD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

enum { PTC_EMIT_DEPTH = 10, PTC_EMIT_BYTES = 64 };

struct ptc_emit {
	bool json;
	bool failed; /* out of memory: the output is incomplete */
	unsigned int depth, rows;
	struct {
		char kind; /* '{', '[', or 'R': rows */
		bool any;
	} at[PTC_EMIT_DEPTH];
};

/* Containers. @name is NULL in a list, and at the top level. ptc_emit_end closes each of them. */
void ptc_emit_object(struct ptc_emit *e, const char *name);
void ptc_emit_list(struct ptc_emit *e, const char *name); /* of plain values */
void ptc_emit_rows(struct ptc_emit *e, const char *name); /* of ptc_emit_row */
void ptc_emit_row(struct ptc_emit *e);
void ptc_emit_end(struct ptc_emit *e);
/* Close all containers opened since e->depth was @depth; for use after damage. */
void ptc_emit_unwind(struct ptc_emit *e, unsigned int depth);

void ptc_emit_u64(struct ptc_emit *e, const char *name, uint64_t v);
void ptc_emit_i64(struct ptc_emit *e, const char *name, int64_t v);
void ptc_emit_bool(struct ptc_emit *e, const char *name, bool v);
/* A string in JSON, because JSON numbers lose bits above 2^53. */
void ptc_emit_hex(struct ptc_emit *e, const char *name, uint64_t v);
void ptc_emit_text(struct ptc_emit *e, const char *name, const char *s); /* NULL: null in JSON */
void ptc_emit_word(struct ptc_emit *e, const char *name, const char *s); /* needs no quotes */
/* Seconds in text. In JSON ns, with "_ns" appended to the name, which must not be NULL. */
void ptc_emit_time(struct ptc_emit *e, const char *name, uint64_t ns);
/* Hex digits; at most the first PTC_EMIT_BYTES bytes, then "..." */
void ptc_emit_bytes(struct ptc_emit *e, const char *name, struct ptc_cur c);

#endif
