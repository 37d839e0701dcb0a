/* SPDX-License-Identifier: MIT */
#include "cli/decode/line_head.h"

#include <string.h>

#include "cli/decode/line_buffer.h"

enum { LAST_DIGITS = 10000 };

void ptc_put_four_digits(char *end, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	const uint32_t four = (uint32_t)(v % 10000);

	memcpy(end - 4, pairs + (size_t)2 * (four / 100), 2);
	memcpy(end - 2, pairs + (size_t)2 * (four % 100), 2);
}

/* Keeps the columns from @begin on for the next lines. */
static void keep_head(struct ptc_printer *p, int32_t tid, uint64_t number, size_t begin,
		      size_t digits)
{
	const struct ptc_line *l = p->line;
	const size_t len = l->n - begin;

	p->head.len = 0;
	/* A time has more than four digits. */
	if (len > sizeof(p->head.text) || number == PTC_NO_TIME ||
	    (p->by_insns && number < LAST_DIGITS))
		return;
	p->head.base = number - number % LAST_DIGITS;
	p->head.tid = tid;
	p->head.digits = (uint8_t)digits;
	p->head.len = (uint8_t)len;
	memcpy(p->head.text, l->buf + begin, len);
}

void ptc_print_head(struct ptc_printer *p, const struct ptc_item *it, size_t room)
{
	const uint64_t icount = ptc_printer_count(p, it);
	const uint64_t number = p->by_insns ? icount : it->time;
	struct ptc_line *l = p->line;
	size_t begin, end, tid;

	if (sizeof(l->buf) - l->n < room)
		ptc_line_flush(l);
	begin = l->n;
	if (p->head.len && p->head.tid == it->tid && number - p->head.base < LAST_DIGITS) {
		memcpy(l->buf + begin, p->head.text, sizeof(p->head.text));
		ptc_put_four_digits(l->buf + begin + p->head.digits, number - p->head.base);
		l->n += p->head.len;
		return;
	}
	if (p->by_insns)
		ptc_line_dec(l, (int64_t)icount);
	else
		ptc_line_time(l, it->time);
	end = l->n;
	ptc_line_pad(l, begin, PTC_TIME_WIDTH);
	tid = l->n;
	ptc_line_dec(l, it->tid);
	ptc_line_pad(l, tid, PTC_TID_WIDTH);
	keep_head(p, it->tid, number, begin, end - begin);
}
