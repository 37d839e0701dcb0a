/* SPDX-License-Identifier: MIT */
/*
 * Records of a recording: deletes, duplicates and moves them, and changes their type, size and
 * numbers. Also changes the header, the events and the features. The header is usually, but not
 * always, updated after a change.
 */
#include <string.h>

#include "../fuzz.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/layout.h"
#include "base/cursor.h"
#include "mutate.h"

enum {
	RECORDS = 512,
	/* Offsets in the header of a file. */
	ATTRS_OFF = 24,
	DATA_OFF = 40,
	BITS_OFF = 72,
	HEADER = 104,
	SECTION = 16, /* an offset and a size */
	RECORD_HEADER = 8,
	PAYLOAD_SIZE = 8, /* offset of the size in an AUXTRACE record */
};

/* A recording, with the begins of its records and the end. */
struct recording {
	struct mu_random *r;
	struct ptc_buf *b;
	bool pipe;
	size_t from, to;
	size_t at[RECORDS + 1], n;
};

static size_t inside(const struct recording *f, uint64_t off)
{
	return off < f->b->len ? (size_t)off : f->b->len;
}

/* Returns the number of bytes of a record that its header's size does not count. */
static uint64_t payload_of(const struct recording *f, size_t at)
{
	const uint8_t *p = f->b->bytes + at;

	if (ptc_le32(p) == PTC_REC_AUXTRACE && f->to - at >= PAYLOAD_SIZE + 8)
		return ptc_le64(p + PAYLOAD_SIZE);
	if (ptc_le32(p) == PTC_REC_HEADER_TRACING_DATA && f->to - at >= RECORD_HEADER + 4)
		return ptc_le32(p + RECORD_HEADER);
	return 0;
}

static void find_records(struct recording *f)
{
	size_t at = f->from;

	f->n = 0;
	while (f->n < RECORDS && f->to - at >= RECORD_HEADER) {
		const size_t size = ptc_le16(f->b->bytes + at + 6);
		const uint64_t payload = payload_of(f, at);

		f->at[f->n++] = at;
		if (size < RECORD_HEADER || size > f->to - at)
			at = f->to;
		else
			at += size;
		at = payload > f->to - at ? f->to : at + (size_t)payload;
	}
	f->at[f->n] = f->n == RECORDS ? at : f->to;
}

/* Parses the recording. False: it is not a recording. */
static bool look(struct recording *f)
{
	const uint8_t *p = f->b->bytes;
	uint64_t size;

	if (f->b->len < PTC_PIPE_HEADER_SIZE || memcmp(p, "PERFILE2", 8) != 0)
		return false;
	f->pipe = ptc_le64(p + 8) == PTC_PIPE_HEADER_SIZE;
	if (f->pipe) {
		f->from = PTC_PIPE_HEADER_SIZE;
		f->to = f->b->len;
	} else {
		if (f->b->len < HEADER)
			return false;
		f->from = inside(f, ptc_le64(p + DATA_OFF));
		size = ptc_le64(p + DATA_OFF + 8);
		f->to = size > f->b->len - f->from ? f->b->len : f->from + (size_t)size;
	}
	find_records(f);
	return true;
}

static unsigned int count_features(const struct recording *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < PTC_FEATURE_BITS; i++)
		n += f->b->bytes[BITS_OFF + i / 8] >> (i % 8) & 1;
	return n;
}

/* Returns the number of entries of the feature table; *@ret_at: its offset. */
static unsigned int features(const struct recording *f, size_t *ret_at)
{
	const size_t fit = (f->b->len - f->to) / SECTION;
	const unsigned int n = f->pipe || f->b->len < HEADER ? 0 : count_features(f);

	*ret_at = f->to;
	return n < fit ? n : (unsigned int)fit;
}

/* Adds @by to all offsets behind the data section. */
static void move_on(struct recording *f, size_t by)
{
	unsigned int i, n;
	size_t at;

	f->to += by;
	if (f->pipe || f->b->len < HEADER || mu_once_in(f->r, 24))
		return;
	ptc_buf_set_le64(f->b, DATA_OFF + 8, f->to - f->from);
	n = features(f, &at);
	for (i = 0; i < n; i++, at += SECTION)
		ptc_buf_set_le64(f->b, at, ptc_le64(f->b->bytes + at) + by);
}

static void splice(struct recording *f, size_t off, size_t del, const void *by, size_t n)
{
	if (mu_splice(f->b, off, del, by, n))
		move_on(f, n - del);
}

/* --- records --- */

static size_t size_of(const struct recording *f, size_t i)
{
	return f->at[i + 1] - f->at[i];
}

static void repeat(struct recording *f, size_t i, size_t k)
{
	splice(f, f->at[k], 0, f->b->bytes + f->at[i], size_of(f, i));
}

static void move(struct recording *f, size_t i, size_t k)
{
	const size_t size = size_of(f, i), from = f->at[i];

	if (!mu_splice(f->b, f->at[k], 0, f->b->bytes + from, size))
		return;
	(void)mu_splice(f->b, i < k ? from : from + size, size, NULL, 0);
}

static void retype(struct recording *f, size_t i)
{
	const uint32_t type = mu_once_in(f->r, 2) ?
				      1 + (uint32_t)mu_below(f->r, 22) :
				      PTC_REC_USER_START + (uint32_t)mu_below(f->r, 24);
	size_t k;

	if (mu_once_in(f->r, 2)) {
		memcpy(f->b->bytes + f->at[i], &type, sizeof(type));
		return;
	}
	/* Inserts another record, with the numbers of an existing one. */
	k = mu_below(f->r, f->n);
	repeat(f, k, i);
	if (f->at[i] + sizeof(type) <= f->b->len)
		memcpy(f->b->bytes + f->at[i], &type, sizeof(type));
}

static void resize(struct recording *f, size_t i)
{
	uint8_t *p = f->b->bytes + f->at[i] + 6;
	uint16_t size = ptc_le16(p);

	if (mu_once_in(f->r, 3)) {
		size = (uint16_t)mu_number(f->r, 2);
		memcpy(p, &size, sizeof(size));
		return;
	}
	/* Changes the number of bytes too. */
	if (mu_once_in(f->r, 2) && size >= RECORD_HEADER + 8 && size <= size_of(f, i)) {
		size = (uint16_t)(size - 8);
		memcpy(p, &size, sizeof(size));
		splice(f, f->at[i] + size, 8, NULL, 0);
	} else if (size < UINT16_MAX - 8 && size <= size_of(f, i)) {
		size = (uint16_t)(size + 8);
		memcpy(p, &size, sizeof(size));
		splice(f, f->at[i] + size - 8, 0, NULL, 8);
	}
}

/* Copies eight bytes from another record: addresses, times and ids that fit. */
static void borrow(struct recording *f, size_t i)
{
	const size_t k = mu_below(f->r, f->n);
	const size_t to = size_of(f, i) / 8, from = size_of(f, k) / 8;

	if (to && from)
		memmove(f->b->bytes + f->at[i] + mu_below(f->r, to) * 8,
			f->b->bytes + f->at[k] + mu_below(f->r, from) * 8, 8);
}

/* Changes the trailer that the kernel puts behind each record: ids and the time. */
static void change_trailer(struct recording *f, size_t i)
{
	enum { TRAILER = 32 };
	const size_t size = ptc_le16(f->b->bytes + f->at[i] + 6);

	if (size >= RECORD_HEADER + TRAILER && size <= size_of(f, i))
		mu_set_number(f->r, f->b, f->at[i] + size - TRAILER, TRAILER);
}

static void change_record(struct recording *f, size_t i)
{
	const size_t size = size_of(f, i);

	switch (mu_below(f->r, 5)) {
	case 0:
		borrow(f, i);
		break;
	case 1:
		change_trailer(f, i);
		break;
	case 2: /* keeps its length */
		if (size > RECORD_HEADER)
			mu_bytes(f->b, f->at[i] + RECORD_HEADER, size - RECORD_HEADER);
		break;
	default:
		mu_set_number(f->r, f->b, f->at[i], size);
		break;
	}
}

/* --- trace --- */

static void change_trace(struct recording *f)
{
	size_t tries, i, at, before, size, pad;

	for (tries = 0; tries < 16; tries++) {
		i = mu_below(f->r, f->n);
		if (ptc_le32(f->b->bytes + f->at[i]) == PTC_REC_AUXTRACE)
			break;
	}
	at = f->at[i] + ptc_le16(f->b->bytes + f->at[i] + 6);
	if (tries == 16 || at > f->at[i + 1] || at - f->at[i] < PTC_AUXTRACE_SIZE)
		return;
	before = f->b->len;
	size = mu_packets(f->r, f->b, at, f->at[i + 1] - at);
	pad = size % 8 && !mu_once_in(f->r, 32) ? 8 - size % 8 : 0;
	if (mu_splice(f->b, at + size, 0, NULL, pad))
		size += pad;
	ptc_buf_set_le64(f->b, f->at[i] + PAYLOAD_SIZE, size);
	move_on(f, f->b->len - before);
}

/* --- around the records --- */

static void change_feature(struct recording *f)
{
	size_t table, at, len;
	const unsigned int n = features(f, &table);
	const uint8_t *p;

	if (!n)
		return;
	table += mu_below(f->r, n) * SECTION;
	if (mu_once_in(f->r, 6)) {
		mu_set_number(f->r, f->b, table, SECTION);
		return;
	}
	p = f->b->bytes + table;
	at = inside(f, ptc_le64(p));
	len = f->b->len - at;
	len = ptc_le64(p + 8) < len ? (size_t)ptc_le64(p + 8) : len;
	if (mu_once_in(f->r, 2))
		mu_set_number(f->r, f->b, at, len);
	else if (len)
		f->b->bytes[at + mu_below(f->r, len)] = (uint8_t)mu_next(f->r);
}

static void change_head(struct recording *f)
{
	if (f->pipe)
		return;
	if (mu_once_in(f->r, 4))
		mu_set_number(f->r, f->b, 8, HEADER - 8);
	else if (f->from > HEADER) /* events and ids are before the data */
		mu_set_number(f->r, f->b, HEADER, f->from - HEADER);
}

void mu_recording(struct mu_random *r, struct ptc_buf *b)
{
	static struct recording f;
	size_t i, k;

	f.r = r;
	f.b = b;
	if (!look(&f) || !f.n) {
		mu_bytes(b, 0, b->len);
		return;
	}
	i = mu_below(r, f.n);
	k = mu_below(r, f.n);
	switch (mu_below(r, 16)) {
	case 0:
		splice(&f, f.at[i], size_of(&f, i), NULL, 0);
		break;
	case 1:
		repeat(&f, i, k);
		break;
	case 2:
		move(&f, i, k);
		break;
	case 3:
		retype(&f, i);
		break;
	case 4:
		resize(&f, i);
		break;
	case 5:
		change_feature(&f);
		break;
	case 6:
		change_head(&f);
		break;
	case 7:
		if (mu_once_in(r, 4))
			b->len -= mu_below(r, b->len); /* truncates */
		else
			mu_bytes(b, 0, b->len);
		break;
	case 8:
	case 9:
	case 10:
	case 11:
		change_trace(&f);
		break;
	default:
		change_record(&f, i);
		break;
	}
}
