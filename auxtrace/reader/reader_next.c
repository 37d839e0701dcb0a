/* SPDX-License-Identifier: MIT */
/* Iteration over the records of a file. Compressed records are replaced by their contents. */
#include <limits.h>
#include <stdlib.h>

#include "auxtrace/reader/inflate.h"
#include "auxtrace/reader/reader.h"
#include "base/err.h"

/* Get how many of the @left bytes after a record belong to it. */
static int trailing(const struct ptc_rec *rec, uint64_t left, uint64_t *ret, struct ptc_err *err)
{
	struct ptc_cur body = rec->body;
	struct ptc_auxtrace a;
	uint32_t size;
	int rc;

	*ret = 0;
	if (rec->type == PTC_REC_AUXTRACE) {
		rc = ptc_auxtrace_parse(body, rec->off, left, &a, err);
		if (!rc)
			*ret = a.size;
		return rc;
	}
	if (rec->type != PTC_REC_HEADER_TRACING_DATA)
		return 0;
	if (!ptc_cur_le32(&body, &size) || size > left)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "TRACING_DATA record without its bytes");
	*ret = size;
	return 0;
}

/*
 * Fast path for kernel records, which have no trailing bytes and are the most frequent. Avoids a
 * call and a copy. Returns false if the record needs the slow path.
 */
static inline bool take_plain(const uint8_t *p, uint64_t left, uint64_t off, struct ptc_rec *ret)
{
	uint32_t type;
	uint16_t size;

	if (left < PTC_REC_HEADER_SIZE)
		return false;
	type = ptc_le32(p);
	size = ptc_le16(p + 6);
	if (type >= PTC_REC_USER_START || size < PTC_REC_HEADER_SIZE || size > left)
		return false;
	ret->off = off;
	ret->type = type;
	ret->misc = ptc_le16(p + 4);
	ret->body.pos = p + PTC_REC_HEADER_SIZE;
	ret->body.end = p + size;
	return true;
}

static inline uint64_t rec_size(const struct ptc_rec *rec)
{
	return PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
}

int ptc_part_next(const struct ptc_file *f, size_t i, uint64_t *pos, struct ptc_rec *ret,
		  uint64_t *ret_trailing, struct ptc_err *err)
{
	const struct ptc_part *p = &f->parts[i];
	struct ptc_cur c;
	int rc;

	if (*pos >= p->data.size)
		return 0;
	c = ptc_cur_init(p->in.bytes + p->data.off + *pos, (size_t)(p->data.size - *pos));
	rc = ptc_rec_next(&c, ptc_part_off(i, p->data.off + *pos), ret, err);
	if (rc > 0 && trailing(ret, ptc_cur_left(&c), ret_trailing, err))
		rc = err->code;
	if (rc > 0)
		*pos += PTC_REC_HEADER_SIZE + ptc_cur_left(&ret->body) + *ret_trailing;
	return rc;
}

uint64_t ptc_file_cut_trace(const struct ptc_file *f, size_t i, struct ptc_auxtrace *ret,
			    struct ptc_cur *ret_trace)
{
	const struct ptc_part *p = &f->parts[i];
	const uint64_t at = p->data.off + p->data.size;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;

	if (!p->cut_trace)
		return 0;
	c = ptc_cur_init(p->in.bytes + at, (size_t)(p->in.len - at));
	if (ptc_rec_next(&c, at, &rec, &err) <= 0 ||
	    ptc_auxtrace_parse(rec.body, at, UINT64_MAX, ret, &err))
		return 0;
	ret->size = p->cut_trace;
	*ret_trace = ptc_cur_init(c.pos, (size_t)p->cut_trace);
	return p->cut_trace;
}

int ptc_file_next_stored(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			 struct ptc_err *err)
{
	size_t i = (size_t)(*pos >> PTC_OFF_PART_SHIFT);
	uint64_t in = *pos & PTC_OFF_MASK;
	struct ptc_rec rec;
	uint64_t skipped;

	for (; i < f->nparts; i++, in = 0) {
		const int rc = ptc_part_next(f, i, &in, &rec, &skipped, err);

		if (rc < 0)
			return ptc_file_err_name(f, err);
		if (rc) {
			*pos = ptc_part_off(i, in);
			*ret = rec;
			return 1;
		}
	}
	return 0;
}

/* Returns the position after the compressed record at offset @at. */
static uint64_t pos_behind(const struct ptc_file *f, uint64_t at)
{
	const struct ptc_part *p = &f->parts[at >> PTC_OFF_PART_SHIFT];

	return at - p->data.off + ptc_le16(p->in.bytes + (at & PTC_OFF_MASK) + 6);
}

/* Get the next record of a piece. *@pos is inside the piece. */
static int next_inflated(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			 struct ptc_err *err)
{
	const struct ptc_segment *p = &f->pieces[(*pos & ~PTC_OFF_INFLATED) >> PTC_OFF_PIECE_BITS];
	const uint64_t off = p->start + (*pos & UINT32_MAX);
	struct ptc_cur c = ptc_cur_init(f->inflated + off, (size_t)(p->end - off));
	uint64_t skipped = 0;
	struct ptc_rec rec;
	int rc;

	if (!take_plain(c.pos, p->end - off, PTC_OFF_INFLATED | off, &rec)) {
		rc = ptc_rec_next(&c, PTC_OFF_INFLATED | off, &rec, err);
		if (rc > 0 && trailing(&rec, ptc_cur_left(&c), &skipped, err))
			rc = err->code;
		if (rc <= 0)
			return rc ? ptc_file_err_name(f, err) : 0;
	}
	*pos += rec_size(&rec) + skipped;
	if (p->start + (*pos & UINT32_MAX) == p->end)
		*pos = pos_behind(f, p->at);
	*ret = rec;
	return 1;
}

static int by_at(const void *pa, const void *pb)
{
	const struct ptc_segment *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* @rec is compressed: move *@pos to the records that it completed, if any. */
static int seek_inflated_records(const struct ptc_file *f, const struct ptc_rec *rec, uint64_t *pos,
				 struct ptc_err *err)
{
	const struct ptc_segment key = { .at = rec->off };
	const struct ptc_segment *p;

	if (!f->compressed) {
		(void)ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				  "a compressed record in a file whose header tells of none");
		return ptc_file_err_name(f, err);
	}
	p = f->npieces ? bsearch(&key, f->pieces, f->npieces, sizeof(*p), by_at) : NULL;
	if (p && p->start != p->end)
		*pos = PTC_OFF_INFLATED | (uint64_t)(p - f->pieces) << PTC_OFF_PIECE_BITS;
	return 0;
}

/* Returns the error of the compressed stream, if it became unreadable at or before *@pos. */
static int check_bad(const struct ptc_file *f, uint64_t pos, struct ptc_err *err)
{
	const size_t i = (size_t)(pos >> PTC_OFF_PART_SHIFT);

	if (i >= f->nparts || !f->parts[i].bad.code || (pos & PTC_OFF_MASK) < f->parts[i].bad_pos)
		return 0;
	*err = f->parts[i].bad;
	return err->code;
}

/* Get the next record. *@pos may be at a compressed record. */
static int next_any(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
		    struct ptc_err *err)
{
	uint64_t at = *pos;
	int rc;

	while (!(at & PTC_OFF_INFLATED)) {
		struct ptc_rec rec = { .type = 0 };

		if (check_bad(f, at, err))
			return err->code;
		rc = ptc_file_next_stored(f, &at, &rec, err);
		if (rc <= 0)
			return rc;
		if (!ptc_rec_is_compressed(&rec)) {
			*pos = at;
			*ret = rec;
			return 1;
		}
		rc = seek_inflated_records(f, &rec, &at, err);
		if (rc)
			return rc;
		/* The compressed record is done, with or without contents. */
		*pos = at;
	}
	rc = next_inflated(f, &at, ret, err);
	if (rc > 0)
		*pos = at;
	return rc;
}

int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret, struct ptc_err *err)
{
	const uint64_t i = *pos >> PTC_OFF_PART_SHIFT, in = *pos & PTC_OFF_MASK;

	if (i < f->nparts && !f->compressed) {
		const struct ptc_part *p = &f->parts[i];
		const uint64_t off = p->data.off + in;

		if (in < p->data.size && take_plain(p->in.bytes + off, p->data.size - in,
						    ptc_part_off((size_t)i, off), ret)) {
			*pos += rec_size(ret);
			return 1;
		}
	}
	return next_any(f, pos, ret, err);
}

/* Contiguous bytes of records, without compressed records. */
struct run {
	const uint8_t *bytes;
	uint64_t left;
	uint64_t off; /* offset of bytes, as in struct ptc_rec */
};

/* Get the contiguous bytes from @pos on. Returns false if only single steps are possible. */
static bool run_at(const struct ptc_file *f, uint64_t pos, struct run *ret)
{
	const uint64_t i = pos >> PTC_OFF_PART_SHIFT, in = pos & PTC_OFF_MASK;

	if (pos & PTC_OFF_INFLATED) {
		const struct ptc_segment *p =
			&f->pieces[(pos & ~PTC_OFF_INFLATED) >> PTC_OFF_PIECE_BITS];
		const uint64_t at = p->start + (pos & UINT32_MAX);

		*ret = (struct run){ f->inflated + at, p->end - at, PTC_OFF_INFLATED | at };
		return true;
	}
	if (i < f->nparts && !f->compressed && in < f->parts[i].data.size) {
		const struct ptc_part *p = &f->parts[i];
		const uint64_t at = p->data.off + in;

		*ret = (struct run){ p->in.bytes + at, p->data.size - in,
				     ptc_part_off((size_t)i, at) };
		return true;
	}
	return false;
}

/* Get up to @n consecutive kernel records at *@pos. Returns how many. */
static size_t take_run(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs, size_t n)
{
	const struct ptc_segment *piece;
	struct run r;
	uint64_t at = 0;
	size_t i;

	if (!run_at(f, *pos, &r))
		return 0;
	for (i = 0; i < n && take_plain(r.bytes + at, r.left - at, r.off + at, &recs[i]); i++)
		at += rec_size(&recs[i]);
	if (i && at == r.left && *pos & PTC_OFF_INFLATED) {
		piece = &f->pieces[(*pos & ~PTC_OFF_INFLATED) >> PTC_OFF_PIECE_BITS];
		*pos = pos_behind(f, piece->at);
	} else {
		*pos += at;
	}
	return i;
}

int ptc_file_next_batch(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs, size_t n,
			struct ptc_err *err)
{
	/* Dropped: the next call returns the error again, before any record. */
	struct ptc_err later;
	size_t got = 0;

	if (n > INT_MAX)
		n = INT_MAX;
	while (got < n) {
		int rc;

		got += take_run(f, pos, recs + got, n - got);
		if (got == n)
			break;
		rc = next_any(f, pos, &recs[got], got ? &later : err);
		if (rc <= 0)
			return got ? (int)got : rc;
		got++;
	}
	return (int)got;
}
