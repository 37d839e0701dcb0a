/* SPDX-License-Identifier: MIT */
/* Untrusted texts and numbers as JSON. */
#ifndef PTC_CLI_COMMON_JSONTEXT_H
#define PTC_CLI_COMMON_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct ptc_line;

/*
 * Bytes that are not UTF-8 become '?', because JSON cannot represent them. Returns NULL if out of
 * memory.
 */
json_t *ptc_json_text(const char *s);

/* Returns an integer; NULL if out of memory. @v is below 2^63. */
json_t *ptc_json_uint(uint64_t v);

/*
 * Returns a text such as "0x401000", for values that may be 2^63 or larger: addresses, configs.
 * NULL if out of memory.
 */
json_t *ptc_json_hex(uint64_t v);

/*
 * As json_dumps, with \uNNNN for characters that could control a terminal (plain.h). Returns NULL
 * if @j is NULL, or if out of memory. Caller frees the text.
 */
char *ptc_json_dumps(const json_t *j, size_t flags);

/*
 * Print @o as a line, and take ownership of it. NULL stands for a failed allocation. Returns false
 * if out of memory.
 */
bool ptc_line_json(struct ptc_line *l, json_t *o);

#endif
