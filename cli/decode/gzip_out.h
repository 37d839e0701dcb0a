/* SPDX-License-Identifier: MIT */
/* Writes gzip data to standard output, through the buffer of the printers. */
#ifndef PTC_CLI_DECODE_GZIP_OUT_H
#define PTC_CLI_DECODE_GZIP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/decode/line_buffer.h"

struct ptc_gzip;

/* Begin. @l is borrowed until ptc_gzip_end. NULL: out of memory. */
struct ptc_gzip *ptc_gzip_begin(struct ptc_line *l);

/* Compress @n bytes. A failure of standard output sets l->failed. */
void ptc_gzip_put(struct ptc_gzip *z, const uint8_t *bytes, size_t n);

/* Write the rest, and free @z, which may be NULL. */
void ptc_gzip_end(struct ptc_gzip *z);

#endif
