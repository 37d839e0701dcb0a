/* SPDX-License-Identifier: MIT */
/* What `ptcap decode` prints: a batch of items in, lines on stdout. */
#ifndef PTC_CLI_OUT_H
#define PTC_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

enum ptc_field {
	PTC_FIELD_PID,
	PTC_FIELD_TID,
	PTC_FIELD_CPU,
	PTC_FIELD_TIME,
	PTC_FIELD_FROM,
	PTC_FIELD_TO,
	PTC_FIELD_KIND,
	PTC_FIELD_SYM,
	PTC_FIELD_TOSYM,
	PTC_FIELD_INSN,
	PTC_FIELD_INSN_IP,
	PTC_FIELD_DISASM,
	PTC_FIELD_SRCLINE,
	PTC_FIELD_COUNT
};

enum { PTC_FIELDS_MAX = 32 };

/* -F: the fields in the order given; n 0: the form for people. */
struct ptc_fields {
	enum ptc_field field[PTC_FIELDS_MAX];
	size_t n;
};

bool ptc_fields_have(const struct ptc_fields *f, enum ptc_field field);

/* What is wrong with @list, or NULL. *ret_word (not NUL-terminated there) is the culprit. */
const char *ptc_fields_parse(const char *list, struct ptc_fields *ret, const char **ret_word,
			     int *ret_len);

/* A line being made; goes to stdout when it is long enough. */
struct ptc_line {
	size_t n;
	bool failed; /* stdout did not take it */
	char buf[1 << 16];
};

void ptc_line_flush(struct ptc_line *l);

/* Room for @n more bytes; @n is at most the buffer's size. */
static inline char *ptc_line_room(struct ptc_line *l, size_t n)
{
	if (sizeof(l->buf) - l->n < n)
		ptc_line_flush(l);
	return l->buf + l->n;
}

static inline void ptc_line_char(struct ptc_line *l, char c)
{
	*ptc_line_room(l, 1) = c;
	l->n++;
}

void ptc_line_str(struct ptc_line *l, const char *s);
void ptc_line_hex(struct ptc_line *l, uint64_t v);
void ptc_line_dec(struct ptc_line *l, int64_t v);
/* Seconds, a dot, nine digits; "-" if not known. */
void ptc_line_time(struct ptc_line *l, uint64_t ns);

struct ptc_printer {
	struct ptc_decode *d;
	struct ptc_fields fields;
	struct ptc_line *line;
	bool color; /* the form for people: kinds and gaps */
	/* --insn: the newest source line */
	char srcline[256];
	size_t srcline_len;
};

int ptc_print_insn(void *ctx, const struct ptc_item *items, size_t n);

/* Parts of lines. A name: what is not printable, or blank, is '_'. */
void ptc_print_name(struct ptc_line *l, const char *s);
/* The same for people: blanks stay. */
void ptc_print_label(struct ptc_line *l, const char *s);
/* Function and offset, or "-". */
void ptc_print_symbol(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip);
void ptc_print_disasm(struct ptc_line *l, const struct ptc_item *it);
/* FILE:LINE of it->from; @whole: with the file's path. False: not known, nothing is printed. */
bool ptc_print_srcline(struct ptc_printer *p, const struct ptc_item *it, bool whole);
/* "# gap queue=...", without the line's end. */
void ptc_print_gap(struct ptc_line *l, const struct ptc_item *it);

/* "# event NAME tid=...", without the line's end. */
void ptc_print_event(struct ptc_line *l, const struct ptc_item *it);

/* ptc_sink.on_items; ctx is a struct ptc_printer. */
int ptc_print_text(void *ctx, const struct ptc_item *items, size_t n);
int ptc_print_json(void *ctx, const struct ptc_item *items, size_t n);
/* The object of a gap, a line. */
void ptc_print_json_gap(struct ptc_line *l, const struct ptc_item *it);
/* What comes before the first item, and behind the last: the files whose code was missed. */
void ptc_print_json_head(struct ptc_line *l);
void ptc_print_json_missing(const struct ptc_decode *d, struct ptc_line *l);

#endif
