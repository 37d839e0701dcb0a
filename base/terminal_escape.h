/* SPDX-License-Identifier: MIT */
/*
 * Escaping of untrusted text for a terminal. A terminal obeys control characters: C0 (ESC), DEL,
 * and C1 (U+0080 to U+009F; in 8-bit terminals the bytes 0x80 to 0x9f). Bidirectional controls
 * reorder the surrounding text, so a name could look like another. All of these, and bytes that are
 * not UTF-8, are printed as \xNN per byte.
 *
 * A terminal without UTF-8 interprets bytes of other characters as C1 controls. For such terminals
 * everything except ASCII is escaped. All names and messages from a recording must be printed
 * through these functions, or through ptc_print_name and ptc_print_label
 * (cli/decode/line_buffer.h).
 */
#ifndef PTC_BASE_TERMINAL_ESCAPE_H
#define PTC_BASE_TERMINAL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Also escape non-ASCII characters, on standard output (@out) and in ptc_plain_put to standard
 * error (@err). Default: off. Must be called before threads are started.
 */
void ptc_plain_set_ascii(bool out, bool err);

/*
 * Returns the length of the character at @s; 1 if it is not UTF-8; 0 at the end of @s. *ret_plain:
 * printable without escaping.
 */
size_t ptc_plain_next(const char *s, bool *ret_plain);

void ptc_plain_put(FILE *out, const char *s);

/*
 * As ptc_plain_put, into @ret of @size bytes. Text that does not fit is cut off at a character
 * boundary.
 */
void ptc_plain_copy(char *ret, size_t size, const char *s);

/*
 * Returns the number of columns of a terminal that @s takes when it is escaped. Characters from
 * U+1100 count as two columns, because many of them are wide. So the result may be too large, but
 * not too small.
 */
size_t ptc_plain_width(const char *s);

/* Returns the number of bytes of @s, whole characters, that fit into @width columns. */
size_t ptc_plain_fit(const char *s, size_t width);

/* Returns an escaped copy, which the caller frees. NULL: out of memory. */
char *ptc_plain_dup(const char *s);

/*
 * Returns a copy of the UTF-8 text @json in which characters that need escaping are \uNNNN. Caller
 * frees it. NULL: out of memory.
 */
char *ptc_plain_json(const char *json);

#endif
