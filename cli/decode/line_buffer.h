/* SPDX-License-Identifier: MIT */
/* Printers of `ptcap decode`: items to lines on stdout. */
#ifndef PTC_CLI_DECODE_LINE_BUFFER_H
#define PTC_CLI_DECODE_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/tid_counter.h"
#include "cli/decode/address_text.h"
#include "cli/decode/line_head.h"
#include "ptcap/decode.h"

enum ptc_field {
	PTC_FIELD_PID,
	PTC_FIELD_TID,
	PTC_FIELD_CPU,
	PTC_FIELD_TIME,
	PTC_FIELD_ICOUNT,
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

/* -F: the fields in the order given; n 0: the default format. */
struct ptc_fields {
	enum ptc_field field[PTC_FIELDS_MAX];
	size_t n;
};

bool ptc_fields_have(const struct ptc_fields *f, enum ptc_field field);

/*
 * Parse @list. Returns NULL, or a description of the error. *ret_word: the wrong word, not
 * NUL-terminated, of *ret_len bytes.
 */
const char *ptc_fields_parse(const char *list, struct ptc_fields *ret, const char **ret_word,
			     int *ret_len);

/* An output buffer, which is flushed to @into, or to stdout, when it is full. */
struct ptc_line {
	struct ptc_buf *into; /* lent; NULL: stdout */
	size_t n;
	uint64_t flushes; /* number of ptc_line_flush */
	bool failed;	  /* writing to stdout failed, or out of memory */
	char buf[1 << 16];
};

void ptc_line_flush(struct ptc_line *l);

/* Returns space for @n more bytes; @n is at most the buffer's size. */
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

static inline void ptc_line_bytes(struct ptc_line *l, const char *s, size_t n)
{
	memcpy(ptc_line_room(l, n), s, n);
	l->n += n;
}

/* Same as ptc_line_bytes, for any @n. */
void ptc_line_long(struct ptc_line *l, const char *s, size_t n);

static inline void ptc_line_str(struct ptc_line *l, const char *s)
{
	const size_t n = strlen(s);

	if (n <= sizeof(l->buf))
		ptc_line_bytes(l, s, n);
	else
		ptc_line_long(l, s, n);
}

/* Print blanks up to @width columns from offset @begin of the buffer, at least one. */
void ptc_line_pad(struct ptc_line *l, size_t begin, size_t width);
/*
 * Print @s for a file that other tools read. Control characters, bytes that are not UTF-8, and the
 * characters of @also become \xNN.
 */
void ptc_line_plain(struct ptc_line *l, const char *s, const char *also);
void ptc_line_hex(struct ptc_line *l, uint64_t v);
void ptc_line_dec(struct ptc_line *l, int64_t v);
/* Print seconds with nine decimals; "-" if not known. */
void ptc_line_time(struct ptc_line *l, uint64_t ns);

struct ptc_printer {
	struct ptc_decode *d;
	struct ptc_fields fields;
	struct ptc_line *line;
	bool color;    /* default format: color kinds and gaps */
	bool inlines;  /* source lines: also of the inlined calls */
	size_t width;  /* default format, --insn: columns of the terminal; 0: print whole names */
	bool icount;   /* items have their number of instructions */
	bool by_insns; /* lines for people begin with this number, not with the time */
	struct ptc_tid_counter insns; /* owned; instructions of each thread, up to the item */
	/* These numbers, counted before, of the items from @counted on; NULL: count here. */
	const uint64_t *counts;
	const struct ptc_item *counted;
	struct ptc_address_texts texts;
	struct ptc_line_head head;
	/* --insn: the last source line printed */
	char srcline[256];
	size_t srcline_len;
};

void ptc_printer_release(struct ptc_printer *p);

/*
 * Count the instructions of @it, if items have them. Returns the instructions of its thread up to
 * @it. Out of memory counts as a failed line.
 */
uint64_t ptc_printer_count(struct ptc_printer *p, const struct ptc_item *it);

int ptc_print_insn(void *ctx, const struct ptc_item *items, size_t n);
/* Continue as if the instruction @it had been printed; NULL: none has been printed. */
void ptc_print_insn_after(struct ptc_printer *p, const struct ptc_item *it);

/* Continue as if these items, which are in front of a shard, had been printed. */
void ptc_print_insn_before(struct ptc_printer *p, const struct ptc_item *items, size_t n);

/* Parts of lines. Names: unprintable characters and blanks become '_'. */
void ptc_print_name(struct ptc_line *l, const char *s);
/* As ptc_print_name, but blanks are kept. */
void ptc_print_label(struct ptc_line *l, const char *s);
/* As ptc_print_label, for a function's name, which is shortened to @width columns. */
void ptc_print_short_name(struct ptc_line *l, const char *name, size_t width);
/* Print function and offset, or "-", as part of a text that is kept. Returns the end. */
size_t ptc_make_symbol(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip);
/* Same. The text is kept. */
void ptc_print_symbol(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip);
void ptc_print_disasm(struct ptc_printer *p, const struct ptc_item *it);
/*
 * Print FILE:LINE of it->from. With p->inlines the lines of the calls that were inlined there
 * follow, with "," between them, and "-" for an unknown one. Returns false, without printing, if
 * not known.
 */
bool ptc_print_srcline(struct ptc_printer *p, const struct ptc_item *it);
/* Print "# gap queue=...", without newline. */
void ptc_print_gap(struct ptc_line *l, const struct ptc_item *it);

/* Print "# event NAME tid=...", without newline. */
void ptc_print_event(struct ptc_line *l, const struct ptc_item *it);

/* ptc_sink.on_items; ctx is a struct ptc_printer. */
int ptc_print_text(void *ctx, const struct ptc_item *items, size_t n);
int ptc_print_json(void *ctx, const struct ptc_item *items, size_t n);
/* Print the JSON object of a gap as a line. */
void ptc_print_json_gap(struct ptc_line *l, const struct ptc_item *it);
/* Print the JSON head, and at the end the files whose code was missing. */
void ptc_print_json_head(struct ptc_line *l);
void ptc_print_json_missing(const struct ptc_decode *d, struct ptc_line *l);

#endif
