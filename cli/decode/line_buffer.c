/* SPDX-License-Identifier: MIT */
#include "cli/decode/line_buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/common/hex.h"
#include "cli/decode/line_head.h"

static const char *const names[PTC_FIELD_COUNT] = {
	[PTC_FIELD_PID] = "pid",       [PTC_FIELD_TID] = "tid",
	[PTC_FIELD_CPU] = "cpu",       [PTC_FIELD_TIME] = "time",
	[PTC_FIELD_ICOUNT] = "icount", [PTC_FIELD_FROM] = "from",
	[PTC_FIELD_TO] = "to",	       [PTC_FIELD_KIND] = "kind",
	[PTC_FIELD_SYM] = "sym",       [PTC_FIELD_TOSYM] = "tosym",
	[PTC_FIELD_INSN] = "insn",     [PTC_FIELD_INSN_IP] = "insn-ip",
	[PTC_FIELD_DISASM] = "disasm", [PTC_FIELD_SRCLINE] = "srcline",
};

void ptc_printer_release(struct ptc_printer *p)
{
	ptc_tid_counter_release(&p->insns);
	ptc_address_texts_release(&p->texts);
}

uint64_t ptc_printer_count(struct ptc_printer *p, const struct ptc_item *it)
{
	uint64_t *n;

	if (p->counts)
		return p->counts[it - p->counted];
	n = p->icount ? ptc_tid_counter_of(&p->insns, it->tid) : NULL;
	if (!n) {
		p->line->failed |= p->icount;
		return 0;
	}
	*n += it->insns;
	return *n;
}

bool ptc_fields_have(const struct ptc_fields *f, enum ptc_field field)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->field[i] == field)
			return true;
	return false;
}

static enum ptc_field field_of(const char *word, size_t len)
{
	unsigned int i;

	for (i = 0; i < PTC_FIELD_COUNT; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return (enum ptc_field)i;
	return PTC_FIELD_COUNT;
}

const char *ptc_fields_parse(const char *list, struct ptc_fields *ret, const char **ret_word,
			     int *ret_len)
{
	static const enum ptc_field of_branches[] = { PTC_FIELD_FROM, PTC_FIELD_TO, PTC_FIELD_KIND,
						      PTC_FIELD_TOSYM };
	size_t len, i;

	ret->n = 0;
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		*ret_word = list;
		*ret_len = (int)len;
		if (ret->n == PTC_FIELDS_MAX)
			return "too many fields";
		ret->field[ret->n] = field_of(list, len);
		if (ret->field[ret->n++] == PTC_FIELD_COUNT)
			return "unknown field";
		if (ret->field[ret->n - 1] == PTC_FIELD_DISASM && list[len])
			return "must be the last field, because it contains blanks:";
		if (!list[len])
			break;
	}
	for (i = 0; i < sizeof(of_branches) / sizeof(of_branches[0]); i++) {
		if (!ptc_fields_have(ret, PTC_FIELD_INSN_IP) ||
		    !ptc_fields_have(ret, of_branches[i]))
			continue;
		*ret_word = names[of_branches[i]];
		*ret_len = (int)strlen(*ret_word);
		return "insn-ip cannot be combined with the field";
	}
	return NULL;
}

void ptc_line_flush(struct ptc_line *l)
{
	if (l->into) {
		ptc_buf_put(l->into, l->buf, l->n);
		l->failed |= ptc_buf_failed(l->into);
	} else if (l->n && fwrite(l->buf, 1, l->n, stdout) != l->n) {
		l->failed = true;
	}
	l->n = 0;
	l->flushes++;
}

void ptc_line_long(struct ptc_line *l, const char *s, size_t n)
{
	size_t some;

	for (; n; n -= some, s += some) {
		some = n < sizeof(l->buf) ? n : sizeof(l->buf);
		ptc_line_bytes(l, s, some);
	}
}

void ptc_line_pad(struct ptc_line *l, size_t begin, size_t width)
{
	const size_t taken = l->n - begin;
	const size_t n = taken < width ? width - taken : 1;
	enum { FEW = 32 };

	if (n <= FEW) /* a copy of fixed length is faster */
		memset(ptc_line_room(l, FEW), ' ', FEW);
	else
		memset(ptc_line_room(l, n), ' ', n);
	l->n += n;
}

static void put_escaped_byte(struct ptc_line *l, char c)
{
	ptc_line_str(l, "\\x");
	ptc_line_hex(l, (uint8_t)c >> 4);
	ptc_line_hex(l, c & 15);
}

void ptc_line_plain(struct ptc_line *l, const char *s, const char *also)
{
	bool plain;
	size_t n, i;

	for (; (n = ptc_plain_next(s, &plain)); s += n)
		for (i = 0; i < n; i++)
			if (plain && !strchr(also, s[i]))
				ptc_line_char(l, s[i]);
			else
				put_escaped_byte(l, s[i]);
}

void ptc_line_hex(struct ptc_line *l, uint64_t v)
{
	l->n = (size_t)(ptc_put_hex(ptc_line_room(l, PTC_HEX_ROOM), v) - l->buf);
}

static void put_dec(struct ptc_line *l, uint64_t v, int width)
{
	enum { DIGITS = 20 };
	char digits[2 * DIGITS] = ""; /* copied with a fixed length */
	int i = DIGITS;

	for (; v >= 10000 || DIGITS - i + 4 <= width; v /= 10000, i -= 4)
		ptc_put_four_digits(digits + i, v);
	for (; v || DIGITS - i < width; v /= 10)
		digits[--i] = (char)('0' + v % 10);
	memcpy(ptc_line_room(l, DIGITS), digits + i, DIGITS);
	l->n += (size_t)(DIGITS - i);
}

void ptc_line_dec(struct ptc_line *l, int64_t v)
{
	if (v < 0)
		ptc_line_char(l, '-');
	put_dec(l, v < 0 ? -(uint64_t)v : (uint64_t)v, 1);
}

void ptc_line_time(struct ptc_line *l, uint64_t ns)
{
	if (ns == PTC_NO_TIME) {
		ptc_line_char(l, '-');
		return;
	}
	put_dec(l, ns / 1000000000, 1);
	ptc_line_char(l, '.');
	put_dec(l, ns % 1000000000, 9);
}
