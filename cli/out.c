/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static const char *const names[PTC_FIELD_COUNT] = {
	[PTC_FIELD_PID] = "pid",	 [PTC_FIELD_TID] = "tid",
	[PTC_FIELD_CPU] = "cpu",	 [PTC_FIELD_TIME] = "time",
	[PTC_FIELD_FROM] = "from",	 [PTC_FIELD_TO] = "to",
	[PTC_FIELD_KIND] = "kind",	 [PTC_FIELD_SYM] = "sym",
	[PTC_FIELD_TOSYM] = "tosym",	 [PTC_FIELD_INSN] = "insn",
	[PTC_FIELD_INSN_IP] = "insn-ip", [PTC_FIELD_DISASM] = "disasm",
	[PTC_FIELD_SRCLINE] = "srcline",
};

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
			return "there are blanks in it, so it must be the last:";
		if (!list[len])
			break;
	}
	for (i = 0; i < sizeof(of_branches) / sizeof(of_branches[0]); i++) {
		if (!ptc_fields_have(ret, PTC_FIELD_INSN_IP) ||
		    !ptc_fields_have(ret, of_branches[i]))
			continue;
		*ret_word = names[of_branches[i]];
		*ret_len = (int)strlen(*ret_word);
		return "insn-ip lists instructions, which do not have the field";
	}
	return NULL;
}

void ptc_line_flush(struct ptc_line *l)
{
	if (l->n && fwrite(l->buf, 1, l->n, stdout) != l->n)
		l->failed = true;
	l->n = 0;
}

/* Room for @n more bytes; @n is at most the buffer's size. */
static char *room(struct ptc_line *l, size_t n)
{
	if (sizeof(l->buf) - l->n < n)
		ptc_line_flush(l);
	return l->buf + l->n;
}

void ptc_line_char(struct ptc_line *l, char c)
{
	*room(l, 1) = c;
	l->n++;
}

void ptc_line_str(struct ptc_line *l, const char *s)
{
	for (; *s; s++)
		ptc_line_char(l, *s);
}

/* The eight hex digits of @v, the first one in the lowest byte. */
static uint64_t hex_digits(uint32_t v)
{
	uint64_t x = v, letters;

	/* A digit in each byte, then its character: letters are 39 behind where digits go on. */
	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + letters * 39);
}

void ptc_line_hex(struct ptc_line *l, uint64_t v)
{
	const size_t digits = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;
	wide all = (wide)hex_digits((uint32_t)v) << 64 | hex_digits((uint32_t)(v >> 32));

	/* In registers: to read back what was just stored in halves takes longer than all of it. */
	all >>= 8 * (16 - digits);
	memcpy(room(l, 16), &all, 16);
	l->n += digits;
}

static void put_dec(struct ptc_line *l, uint64_t v, int width)
{
	char digits[20];
	int i = 20;

	do {
		digits[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v || 20 - i < width);
	memcpy(room(l, 20), digits + i, (size_t)(20 - i));
	l->n += (size_t)(20 - i);
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
