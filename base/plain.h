/* SPDX-License-Identifier: MIT */
/*
 * Text that others chose, for a terminal. A terminal obeys control characters: C0 (ESC), DEL, and
 * C1 (U+0080 to U+009F; in 8-bit terminals the bytes 0x80 to 0x9f). Bidirectional controls reorder
 * what is around them, so a name could look like another one. All of these are printed as \xNN, a
 * byte each, and so are bytes that are not UTF-8. A terminal that is not a UTF-8 one takes bytes of
 * other characters for C1 controls: there, all but ASCII is printed so. Everything that ptcap
 * prints of a recording, of a name or of a message goes through here, or through ptc_print_name and
 * ptc_print_label (cli/out.h).
 */
#ifndef PTC_BASE_PLAIN_H
#define PTC_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Escape what is not ASCII, too: in what is for standard output, and in what ptc_plain_put puts to
 * standard error. At the start nothing is set. Call it before there are threads.
 */
void ptc_plain_set_ascii(bool out, bool err);

/* The length of the character that @s begins with; 1 if it is not UTF-8, and 0 at the end of @s.
 * *ret_plain: it may be printed as it is. */
size_t ptc_plain_next(const char *s, bool *ret_plain);

void ptc_plain_put(FILE *out, const char *s);

/* As ptc_plain_put, into @ret of @size bytes. What does not fit is left out, by whole characters.
 */
void ptc_plain_copy(char *ret, size_t size, const char *s);

/* Returns a copy, or NULL: no memory. Caller frees it. */
char *ptc_plain_dup(const char *s);

/* Returns a copy of @json with \uNNNN for what is not plain, or NULL: no memory. Caller frees it.
 * @json is UTF-8. */
char *ptc_plain_json(const char *json);

#endif
