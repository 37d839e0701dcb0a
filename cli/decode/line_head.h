/* SPDX-License-Identifier: MIT */
/*
 * The first columns of a line for people: the time or the number of instructions, and the thread.
 * They are mostly those of the line before, except for the last digits.
 */
#ifndef PTC_CLI_DECODE_LINE_HEAD_H
#define PTC_CLI_DECODE_LINE_HEAD_H

#include <stddef.h>
#include <stdint.h>

struct ptc_item;
struct ptc_printer;

/* Columns of the time, and of the thread. */
enum { PTC_TIME_WIDTH = 18, PTC_TID_WIDTH = 8 };

/* The columns of the last line. Zeroed: there is none. */
struct ptc_line_head {
	uint64_t base; /* its number, with zeros for the last four digits */
	int32_t tid;
	uint8_t digits; /* columns up to the end of the number */
	uint8_t len;	/* of text; 0: there is none */
	char text[48];
};

/*
 * Begin a line: count the instructions of @it, and print its time or the number of instructions,
 * and its thread. Columns are computed inside the buffer, so the line gets @room bytes without a
 * flush.
 */
void ptc_print_head(struct ptc_printer *p, const struct ptc_item *it, size_t room);

/* Writes the last four digits of @v in front of @end. */
void ptc_put_four_digits(char *end, uint64_t v);

#endif
