/* SPDX-License-Identifier: MIT */
/*
 * Appends the parts of a flatbuffer to a buffer: tables, vectors and strings. A part refers to
 * later parts only, so the caller writes a table, then its children, and then sets the references.
 * All positions are offsets in the buffer. Source of the facts: flatbuffers.dev, "Internals".
 *
 * A failed allocation marks the buffer as failed. The functions then do nothing.
 */
#ifndef PTC_CLI_ARROW_FLATBUFFER_H
#define PTC_CLI_ARROW_FLATBUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A field of a table, at the index of its number in the schema. */
struct ptc_flat_field {
	size_t size; /* bytes: 1, 2, 4 or 8; 4 for a reference; 0: the field has its default */
	uint64_t value;
	size_t at; /* result: the position of the value */
};

/* Append the reference to the root table. Returns its position, for ptc_flat_refer. */
size_t ptc_flat_root(struct ptc_buf *b);

/* Append a table of @n fields, and set their positions. Returns the position of the table. */
size_t ptc_flat_table(struct ptc_buf *b, struct ptc_flat_field *fields, size_t n);

/*
 * Append the length of a vector of @n elements that are aligned to @align bytes (4 or 8). The
 * caller appends the elements. Returns the position of the vector. The elements begin 4 bytes
 * later.
 */
size_t ptc_flat_vector(struct ptc_buf *b, size_t n, size_t align);

/* As ptc_flat_vector, with @n references, to be set with ptc_flat_refer. */
size_t ptc_flat_references(struct ptc_buf *b, size_t n);

/* Append a string. Returns its position. */
size_t ptc_flat_string(struct ptc_buf *b, const char *s);

/* Let the reference at @at refer to the part at @part. */
void ptc_flat_refer(struct ptc_buf *b, size_t at, size_t part);

#endif
