/* SPDX-License-Identifier: MIT */
/* Texts of a recording as JSON. */
#ifndef PTC_CLI_JSONTEXT_H
#define PTC_CLI_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>

struct ptc_line;

/* Bytes that are not UTF-8 become '?': JSON cannot carry them. NULL: out of memory. */
json_t *ptc_json_text(const char *s);

/* As json_dumps, with \\uNNNN for what could act on a terminal (plain.h). NULL if @j is, or if
 * there is no memory. Caller frees it. */
char *ptc_json_dumps(const json_t *j, size_t flags);

/* @o, which is taken (NULL is one that there was no memory for), as a line. False: out of memory.
 */
bool ptc_line_json(struct ptc_line *l, json_t *o);

#endif
