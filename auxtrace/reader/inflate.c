/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/inflate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/vec.h"

enum {
	/* Offset of type in feature COMPRESSED: u32 version, type, level, ratio, mmap_len. */
	FEATURE_TYPE = 4,
	TYPE_ZSTD = 1,
	HEAD = 16,		/* bytes of a record needed to know its length with trailing data */
	TRACING_DATA_SIZE = 12, /* bytes of the record itself, which ends with a u32 count */
	AUXTRACE_MIN = 44,	/* bytes of the record itself, up to the last field used */
};

/* Finds record boundaries in a stream that arrives in parts of any size. */
struct framer {
	uint8_t head[HEAD];
	size_t have;   /* bytes in head */
	uint64_t skip; /* bytes of the record that are still to come after head */
	uint64_t done; /* end of the last whole record, in the expanded data */
};

struct inflating {
	struct ptc_file *f;
	size_t part;
	ZSTD_DStream *stream;
	uint8_t *out;
	size_t out_size;
	uint64_t in_bytes; /* compressed bytes so far, of all parts */
	/* Offset of the compressed record in which the incomplete record began; or 0. */
	uint64_t begun;
	struct framer framer;
};

/* Returns 0 if more bytes of the head are needed, or 1 with @skip set, or an error. */
static int read_head(struct framer *fr, uint64_t off, struct ptc_err *err)
{
	struct ptc_cur c = ptc_cur_init(fr->head, fr->have);
	uint64_t trailing = 0, min = PTC_REC_HEADER_SIZE;
	uint32_t type, u32 = 0;
	uint16_t misc, size;

	if (!ptc_cur_le32(&c, &type) || !ptc_cur_le16(&c, &misc) || !ptc_cur_le16(&c, &size))
		return 0;
	if (type == PTC_REC_AUXTRACE)
		min = AUXTRACE_MIN;
	else if (type == PTC_REC_HEADER_TRACING_DATA)
		min = TRACING_DATA_SIZE;
	if (size < min)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "a record of type %u has the impossible size %u", type, size);
	if (type == PTC_REC_AUXTRACE && !ptc_cur_le64(&c, &trailing))
		return 0;
	if (type == PTC_REC_HEADER_TRACING_DATA && !ptc_cur_le32(&c, &u32))
		return 0;
	trailing += u32;
	if (trailing > PTC_LIMIT_INFLATE_ALL)
		return ptc_fail_at(err, PTC_E_LIMIT, off,
				   "a record of type %u claims %" PRIu64 " bytes behind it", type,
				   trailing);
	fr->skip = size + trailing - fr->have;
	return 1;
}

/* Process @n more expanded bytes, the first of which is at @off. */
static int frame(struct framer *fr, const uint8_t *bytes, size_t n, uint64_t off,
		 struct ptc_err *err)
{
	const uint64_t end = off + n;

	while (off < end) {
		if (fr->skip) {
			const uint64_t step = fr->skip < end - off ? fr->skip : end - off;

			bytes += step;
			off += step;
			fr->skip -= step;
		} else {
			int rc;

			fr->head[fr->have++] = *bytes++;
			off++;
			if (fr->have < PTC_REC_HEADER_SIZE || fr->have % 4)
				continue;
			rc = read_head(fr, PTC_OFF_INFLATED | fr->done, err);
			if (rc < 0)
				return rc;
			if (!rc)
				continue;
		}
		if (!fr->skip) {
			fr->done = off;
			fr->have = 0;
		}
	}
	return 0;
}

/* Get the compressed bytes of a record. */
static int payload(const struct ptc_rec *rec, struct ptc_cur *ret, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint64_t size;

	if (rec->type == PTC_REC_COMPRESSED) {
		*ret = c;
		return 0;
	}
	if (!ptc_cur_le64(&c, &size) || size > ptc_cur_left(&c))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "COMPRESSED2 record claims more bytes than it has");
	*ret = ptc_cur_init(c.pos, (size_t)size);
	return 0;
}

static int check_limits(const struct inflating *z, uint64_t off, struct ptc_err *err)
{
	const uint64_t len = z->f->spool.len;

	if (len > PTC_LIMIT_INFLATE_FREE + z->in_bytes * PTC_LIMIT_INFLATE_RATIO)
		return ptc_fail_at(err, PTC_E_LIMIT, off,
				   "compressed records expand to more than %u times their size",
				   PTC_LIMIT_INFLATE_RATIO);
	if (len > PTC_LIMIT_INFLATE_ALL)
		return ptc_fail_at(err, PTC_E_LIMIT, off,
				   "compressed records expand to more than %llu bytes",
				   PTC_LIMIT_INFLATE_ALL);
	return 0;
}

/* Expand one record's bytes into the spool, and pass them to the framer. */
static int expand(struct inflating *z, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_spool *spool = &z->f->spool;
	struct ptc_cur c = rec->body;
	ZSTD_inBuffer in;
	int rc = payload(rec, &c, err);

	if (rc)
		return rc;
	in = (ZSTD_inBuffer){ c.pos, ptc_cur_left(&c), 0 };
	z->in_bytes += in.size;
	for (;;) {
		ZSTD_outBuffer out = { z->out, z->out_size, 0 };
		const size_t before = in.pos;
		const size_t r = ZSTD_decompressStream(z->stream, &out, &in);
		const uint64_t off = spool->len;

		if (ZSTD_isError(r))
			return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
					   "a compressed record cannot be expanded: %s",
					   ZSTD_getErrorName(r));
		rc = ptc_spool_put(spool, z->out, out.pos, err);
		if (!rc)
			rc = check_limits(z, rec->off, err);
		if (!rc)
			rc = frame(&z->framer, z->out, out.pos, off, err);
		if (rc)
			return rc;
		/* If the output buffer is full, zstd may hold more. */
		if (in.pos == in.size && out.pos < out.size)
			return 0;
		if (in.pos == before && !out.pos)
			return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
					   "a compressed record cannot be expanded: no progress");
	}
}

static int add_piece(struct ptc_file *f, uint64_t at, uint64_t start, uint64_t end,
		     struct ptc_err *err)
{
	void *items = f->pieces;

	/* A position has 31 bits for the number of the piece, and 32 bits for the offset in it. */
	if (f->npieces == INT32_MAX || end - start > UINT32_MAX)
		return ptc_fail_at(err, PTC_E_LIMIT, at,
				   "compressed records that are too many, or too large");
	if (!ptc_vec_reserve(&items, &f->pieces_cap, f->npieces + 1, sizeof(*f->pieces)))
		return ptc_fail_mem(err);
	f->pieces = items;
	f->pieces[f->npieces++] = (struct ptc_segment){ at, start, end };
	return 0;
}

/* Return whether the error is not the file's fault. */
static bool is_ours(const struct ptc_err *err)
{
	return err->code != PTC_E_FORMAT && err->code != PTC_E_LIMIT;
}

/* Mark the stream as unusable from @pos in the part's data on. */
static void set_bad(struct inflating *z, uint64_t pos, const struct ptc_err *err)
{
	struct ptc_part *p = &z->f->parts[z->part];

	p->bad_pos = pos;
	p->bad = *err;
}

/* Add the piece that @rec completed, which began at @start. @bad: expanding @rec failed. */
static int note_piece(struct inflating *z, const struct ptc_rec *rec, uint64_t start, bool bad,
		      struct ptc_err *err)
{
	const uint64_t done = z->framer.done;

	if (done != start)
		z->begun = 0;
	if (!z->begun && z->f->spool.len != done)
		z->begun = rec->off;
	/* An empty piece marks the position of a damaged record. */
	return bad || done != start ? add_piece(z->f, rec->off, start, done, err) : 0;
}

/* Report that the stream ended inside a record, after @pos bytes of the part's data. */
static int note_rest(struct inflating *z, uint64_t pos, struct ptc_err *err)
{
	const struct ptc_segment *last = z->f->npieces ? &z->f->pieces[z->f->npieces - 1] : NULL;
	const uint64_t done = z->framer.done;
	struct ptc_err e;
	int rc = 0;

	(void)ptc_fail_at(&e, PTC_E_FORMAT, PTC_OFF_INFLATED | done,
			  "what is compressed ends inside a record");
	if (!last || last->at != z->begun)
		rc = add_piece(z->f, z->begun, done, done, err);
	set_bad(z, pos, &e);
	return rc;
}

static int take_part(struct inflating *z, struct ptc_err *err)
{
	uint64_t pos = 0, trailing;
	struct ptc_rec rec;
	struct ptc_err e;

	z->framer = (struct framer){ .done = z->f->spool.len };
	z->begun = 0;
	(void)ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
	/* Other damage of records is reported by iteration. */
	while (ptc_part_next(z->f, z->part, &pos, &rec, &trailing, &e) > 0) {
		const uint64_t start = z->framer.done;
		int bad, rc;

		if (!ptc_rec_is_compressed(&rec))
			continue;
		z->f->expanded = true;
		bad = expand(z, &rec, &e);
		rc = note_piece(z, &rec, start, bad, err);
		if (rc)
			return rc;
		if (bad && is_ours(&e)) {
			*err = e;
			return e.code;
		}
		if (bad) {
			set_bad(z, pos, &e);
			return 0;
		}
	}
	if (z->f->spool.len == z->framer.done)
		return 0;
	return note_rest(z, z->f->parts[z->part].data.size, err);
}

static int take_parts(struct inflating *z, struct ptc_err *err)
{
	int rc = 0;

	for (z->part = 0; !rc && z->part < z->f->nparts; z->part++)
		rc = take_part(z, err);
	if (!rc)
		rc = ptc_spool_finish(&z->f->spool, &z->f->inflated, err);
	z->f->inflated_len = z->f->spool.len;
	return rc;
}

/* Report the damage now that offsets can be converted to locations. A tolerant file ends there. */
static void tell_bad(struct ptc_file *f)
{
	size_t i;

	for (i = 0; i < f->nparts; i++) {
		struct ptc_part *p = &f->parts[i];

		if (!p->bad.code)
			continue;
		if (!f->tolerant) {
			(void)ptc_file_err_name(f, &p->bad);
			continue;
		}
		(void)ptc_file_damaged(f, &p->bad);
		p->data.size = p->bad_pos;
		p->cut_trace = 0; /* the data no longer end at the cut-off trace */
		p->bad.code = PTC_OK;
	}
}

int ptc_inflate(struct ptc_file *f, struct ptc_err *err)
{
	struct inflating z = { .f = f, .out_size = ZSTD_DStreamOutSize() };
	struct ptc_cur c;
	uint32_t type;
	int rc;

	if (ptc_file_feature(f, PTC_FEAT_COMPRESSED, &c, NULL) && ptc_cur_skip(&c, FEATURE_TYPE) &&
	    ptc_cur_le32(&c, &type) && type != TYPE_ZSTD)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"it is compressed in a way (type %u) that is not supported", type);
	z.stream = ZSTD_createDStream();
	z.out = malloc(z.out_size);
	rc = z.stream && z.out ? take_parts(&z, err) : ptc_fail_mem(err);
	free(z.out);
	(void)ZSTD_freeDStream(z.stream);
	if (!rc)
		tell_bad(f);
	return rc;
}
