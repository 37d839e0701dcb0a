/* SPDX-License-Identifier: MIT */
/* Untrusted texts as JSON. */
#ifndef PTC_CLI_COMMON_JSONTEXT_H
#define PTC_CLI_COMMON_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>

struct ptc_line;

/*
 * Bytes that are not UTF-8 become '?', because JSON cannot represent them. Returns NULL if out of
 * memory.
 */
json_t *ptc_json_text(const char *s);

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
