/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/folder.h"
#include "auxtrace/header.h"
#include "auxtrace/inflate.h"
#include "auxtrace/pipe.h"
#include "auxtrace/salvage.h"
#include "base/err.h"

#define OFF_MASK   PTC_LIMIT_FILE /* of an offset: in its file */
#define PIECE_BITS 32		  /* of a position in a piece: where in it */

/* The bytes that an offset is in, from their start, and its offset there. */
static struct ptc_cur region(const struct ptc_file *f, uint64_t off, uint64_t *ret_in)
{
	const struct ptc_input *in;

	if (off & PTC_OFF_INFLATED) {
		*ret_in = off & ~PTC_OFF_INFLATED;
		return ptc_cur_init(f->inflated, (size_t)f->inflated_len);
	}
	*ret_in = off & OFF_MASK;
	if (off >> PTC_OFF_PART_SHIFT >= f->nparts)
		return ptc_cur_init(NULL, 0);
	in = &f->parts[off >> PTC_OFF_PART_SHIFT].in;
	return ptc_cur_init(in->bytes, in->len);
}

bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size, struct ptc_cur *ret)
{
	uint64_t in;
	struct ptc_cur c = region(f, off, &in);

	return ptc_cur_skip(&c, (size_t)in) && ptc_cur_sub(&c, (size_t)size, ret);
}

/* The piece that has @off in it, or else in front of it. Of none: NULL. */
static const struct ptc_piece *piece_of(const struct ptc_file *f, uint64_t off)
{
	size_t lo = 0, hi = f->npieces;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (f->pieces[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &f->pieces[lo - 1] : NULL;
}

void ptc_file_place(const struct ptc_file *f, uint64_t off, struct ptc_file_place *ret)
{
	struct ptc_file_place p = { .inflated = off & PTC_OFF_INFLATED };
	size_t part;

	if (p.inflated) {
		const struct ptc_piece *piece = piece_of(f, off & ~PTC_OFF_INFLATED);

		p.inner = (off & ~PTC_OFF_INFLATED) - (piece ? piece->start : 0);
		off = piece ? piece->at : f->parts[0].data.off;
	}
	part = (size_t)(off >> PTC_OFF_PART_SHIFT);
	p.name = part < f->nparts ? f->parts[part].name : f->name;
	p.off = off & OFF_MASK;
	*ret = p;
}

/* The message of ptc_fail_at ends with an offset: make it the place. */
static void set_place(struct ptc_err *err, const struct ptc_file_place *place)
{
	size_t len = strlen(err->msg);
	char old[32];
	int n;

	n = snprintf(old, sizeof(old), " (offset 0x%" PRIx64 ")", err->off);
	if (n < 0 || (size_t)n > len || strcmp(err->msg + len - n, old) != 0)
		return;
	len -= (size_t)n;
	n = snprintf(err->msg + len, sizeof(err->msg) - len, " (offset 0x%" PRIx64, place->off);
	if (n > 0)
		len += (size_t)n;
	if (len < sizeof(err->msg) && place->inflated) {
		n = snprintf(err->msg + len, sizeof(err->msg) - len,
			     ", 0x%" PRIx64 " in what it expands to", place->inner);
		if (n > 0)
			len += (size_t)n;
	}
	if (len < sizeof(err->msg))
		(void)snprintf(err->msg + len, sizeof(err->msg) - len, ")");
}

int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_file_place place;

	ptc_file_place(f, err->off, &place);
	if (err->off > OFF_MASK)
		set_place(err, &place);
	err->off = place.off;
	return ptc_err_prefix(err, "cannot read '%s': ", place.name);
}

static struct ptc_file *new_file(const char *name, bool tolerant)
{
	struct ptc_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->tolerant = tolerant;
	f->spool = (struct ptc_spool)PTC_SPOOL_INIT;
	f->name = strdup(name);
	f->parts = calloc(1, sizeof(*f->parts));
	if (f->name && f->parts) {
		f->parts[0].in = (struct ptc_input)PTC_INPUT_INIT;
		f->nparts = 1;
		return f;
	}
	ptc_file_free(f);
	return NULL;
}

static int read_forms(struct ptc_file *f, int folder, struct ptc_err *err)
{
	int rc = ptc_header_read(f, err);

	if (rc)
		return ptc_file_err_name(f, err);
	if (folder >= 0) {
		rc = ptc_folder_parts(f, folder, err);
		if (rc)
			return rc;
	}
	if (f->features[PTC_FEAT_COMPRESSED].has)
		f->compressed = true;
	if (f->tolerant && f->form != PTC_FORM_PIPE)
		rc = ptc_salvage(f, err);
	/* All records have been looked at then: once more costs little. */
	if (!rc && f->tolerant && f->form != PTC_FORM_PIPE)
		ptc_pipe_updates(f, 0, false);
	if (!rc && f->compressed)
		rc = ptc_inflate(f, err);
	return rc ? ptc_file_err_name(f, err) : 0;
}

/* All bytes are there, of a folder those of its first file. */
static int read_file(struct ptc_file *f, int folder, struct ptc_err *err)
{
	struct ptc_err e; /* damage passes through it, which is no failure */
	const int rc = read_forms(f, folder, &e);

	if (rc)
		*err = e;
	return rc;
}

static int open_bytes(const void *bytes, size_t len, const char *name, bool tolerant,
		      struct ptc_file **ret, struct ptc_err *err)
{
	struct ptc_file *f = new_file(name, tolerant);
	int rc;

	if (!f)
		return ptc_fail_mem(err);
	f->parts[0].in.bytes = bytes;
	f->parts[0].in.len = len;
	f->parts[0].name = strdup(name);
	rc = f->parts[0].name ? read_file(f, -1, err) : ptc_fail_mem(err);
	if (rc)
		ptc_file_free(f);
	else
		*ret = f;
	return rc;
}

int ptc_file_open_bytes(const void *bytes, size_t len, const char *name, struct ptc_file **ret,
			struct ptc_err *err)
{
	return open_bytes(bytes, len, name, false, ret, err);
}

int ptc_file_open_damaged_bytes(const void *bytes, size_t len, const char *name,
				struct ptc_file **ret, struct ptc_err *err)
{
	return open_bytes(bytes, len, name, true, ret, err);
}

static int open_path(const char *path, bool tolerant, struct ptc_file **ret, struct ptc_err *err)
{
	struct ptc_file *f = new_file(path, tolerant);
	int folder = -1;
	int rc;

	if (!f)
		return ptc_fail_mem(err);
	rc = ptc_input_open(path, &f->parts[0].in, &folder, err);
	if (!rc && folder >= 0) {
		rc = ptc_folder_head(f, folder, err);
	} else if (!rc) {
		f->parts[0].name = strdup(path);
		rc = f->parts[0].name ? 0 : ptc_fail_mem(err);
	}
	if (!rc)
		rc = read_file(f, folder, err);
	if (folder >= 0)
		(void)close(folder);
	if (rc)
		ptc_file_free(f);
	else
		*ret = f;
	return rc;
}

int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, false, ret, err);
}

int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, true, ret, err);
}

void ptc_file_free(struct ptc_file *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->nparts; i++) {
		ptc_input_release(&f->parts[i].in);
		free(f->parts[i].name);
	}
	free(f->parts);
	ptc_spool_release(&f->spool);
	free(f->pieces);
	ptc_buf_release(&f->build_ids);
	free(f->by_id);
	free(f->ids);
	free(f->attrs);
	free(f->name);
	free(f);
}

const struct ptc_err *ptc_file_damage_at(const struct ptc_file *f, size_t i)
{
	return i < f->ndamage ? &f->damage[i] : NULL;
}

const struct ptc_err *ptc_file_damage(const struct ptc_file *f)
{
	return ptc_file_damage_at(f, 0);
}

const char *ptc_file_name(const struct ptc_file *f)
{
	return f->name;
}

uint64_t ptc_file_size(const struct ptc_file *f)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < f->nparts; i++)
		size += f->parts[i].in.len;
	return size;
}

enum ptc_file_form ptc_file_form(const struct ptc_file *f)
{
	return f->form;
}

bool ptc_file_compressed(const struct ptc_file *f)
{
	return f->expanded;
}

uint64_t ptc_file_data_off(const struct ptc_file *f)
{
	return f->parts[0].data.off;
}

uint64_t ptc_file_data_size(const struct ptc_file *f)
{
	return f->parts[0].data.size;
}

size_t ptc_file_nparts(const struct ptc_file *f)
{
	return f->nparts;
}

void ptc_file_part(const struct ptc_file *f, size_t i, struct ptc_file_part *ret)
{
	const struct ptc_part *p = &f->parts[i];

	*ret = (struct ptc_file_part){
		.name = p->name,
		.size = p->in.len,
		.data_off = p->data.off,
		.data_size = p->data.size,
	};
}

size_t ptc_file_nattrs(const struct ptc_file *f)
{
	return f->nattrs;
}

const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i)
{
	return &f->attrs[i];
}

bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
		      uint64_t *ret_off)
{
	if (bit >= PTC_FEATURE_BITS || !f->features[bit].has)
		return false;
	*ret = f->features[bit].bytes;
	if (ret_off)
		*ret_off = f->features[bit].off;
	return true;
}

int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_auxtrace *ret,
		      struct ptc_cur *ret_bytes, struct ptc_err *err)
{
	const uint64_t start = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	const struct ptc_section *data;
	struct ptc_auxtrace a;
	uint64_t in, end;
	int rc;

	(void)region(f, start, &in);
	end = f->inflated_len;
	if (!(start & PTC_OFF_INFLATED)) {
		data = &f->parts[start >> PTC_OFF_PART_SHIFT].data;
		end = data->off + data->size;
	}
	rc = ptc_auxtrace_parse(rec->body, rec->off, end - in, &a, err);
	if (!rc && !ptc_file_bytes(f, start, a.size, ret_bytes))
		rc = ptc_fail_at(err, PTC_E_FORMAT, rec->off, "trace outside the file");
	if (rc)
		return ptc_file_err_name(f, err);
	*ret = a;
	return 0;
}

/* How much of the @left bytes behind a record belongs to it. */
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
 * A record of the kernel, which has nothing behind it: nearly all are, so for
 * them there is no call and no copy. False: look closer.
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
	uint64_t in = *pos & OFF_MASK;
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

/* The position behind the compressed record at offset @at. */
static uint64_t pos_behind(const struct ptc_file *f, uint64_t at)
{
	const struct ptc_part *p = &f->parts[at >> PTC_OFF_PART_SHIFT];

	return at - p->data.off + ptc_le16(p->in.bytes + (at & OFF_MASK) + 6);
}

/* The next record of a piece; *@pos is in one. */
static int next_inflated(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			 struct ptc_err *err)
{
	const struct ptc_piece *p = &f->pieces[(*pos & ~PTC_OFF_INFLATED) >> PIECE_BITS];
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
	const struct ptc_piece *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* @rec is compressed: go to what it gave, if anything. */
static int enter(const struct ptc_file *f, const struct ptc_rec *rec, uint64_t *pos,
		 struct ptc_err *err)
{
	const struct ptc_piece key = { .at = rec->off };
	const struct ptc_piece *p;

	if (!f->compressed) {
		(void)ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				  "a compressed record in a file whose header tells of none");
		return ptc_file_err_name(f, err);
	}
	p = f->npieces ? bsearch(&key, f->pieces, f->npieces, sizeof(*p), by_at) : NULL;
	if (p && p->start != p->end)
		*pos = PTC_OFF_INFLATED | (uint64_t)(p - f->pieces) << PIECE_BITS;
	return 0;
}

/* Whether compression has come to a bad end where *@pos is. */
static int check_bad(const struct ptc_file *f, uint64_t pos, struct ptc_err *err)
{
	const size_t i = (size_t)(pos >> PTC_OFF_PART_SHIFT);

	if (i >= f->nparts || !f->parts[i].bad.code || (pos & OFF_MASK) < f->parts[i].bad_pos)
		return 0;
	*err = f->parts[i].bad;
	return err->code;
}

/* *@pos may be at a compressed record. */
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
		rc = enter(f, &rec, &at, err);
		if (rc)
			return rc;
		/* Whatever it gave or not: it is behind us. */
		*pos = at;
	}
	rc = next_inflated(f, &at, ret, err);
	if (rc > 0)
		*pos = at;
	return rc;
}

int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret, struct ptc_err *err)
{
	const uint64_t i = *pos >> PTC_OFF_PART_SHIFT, in = *pos & OFF_MASK;

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

/* Bytes in which one record follows the other, with no look at anything else. */
struct run {
	const uint8_t *bytes;
	uint64_t left;
	uint64_t off; /* of bytes, as in struct ptc_rec */
};

/* What there is of it from @pos on; false: go step by step. */
static bool run_at(const struct ptc_file *f, uint64_t pos, struct run *ret)
{
	const uint64_t i = pos >> PTC_OFF_PART_SHIFT, in = pos & OFF_MASK;

	if (pos & PTC_OFF_INFLATED) {
		const struct ptc_piece *p = &f->pieces[(pos & ~PTC_OFF_INFLATED) >> PIECE_BITS];
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

/* The records of the kernel at *@pos, up to the first of another kind; at most @n. */
static size_t take_run(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs, size_t n)
{
	const struct ptc_piece *piece;
	struct run r;
	uint64_t at = 0;
	size_t i;

	if (!run_at(f, *pos, &r))
		return 0;
	for (i = 0; i < n && take_plain(r.bytes + at, r.left - at, r.off + at, &recs[i]); i++)
		at += rec_size(&recs[i]);
	if (i && at == r.left && *pos & PTC_OFF_INFLATED) {
		piece = &f->pieces[(*pos & ~PTC_OFF_INFLATED) >> PIECE_BITS];
		*pos = pos_behind(f, piece->at);
	} else {
		*pos += at;
	}
	return i;
}

int ptc_file_next_batch(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs, size_t n,
			struct ptc_err *err)
{
	struct ptc_err later; /* it comes again, in front of nothing */
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

const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id)
{
	const struct ptc_id_entry key = { id, 0 };
	const struct ptc_id_entry *e;

	if (!f->nids)
		return NULL;
	e = bsearch(&key, f->by_id, f->nids, sizeof(*f->by_id), ptc_id_compare);
	return e ? &f->attrs[e->attr] : NULL;
}

/*
 * An id that no attr has, 0 above all, is in what perf itself has put into the
 * file (the mappings of processes already running): that has the first attr's
 * fields.
 */
static const struct ptc_file_attr *attr_of_word(const struct ptc_file *f, const uint8_t *word)
{
	const struct ptc_file_attr *a = word ? ptc_file_attr_of_id(f, ptc_le64(word)) : NULL;

	return a ? a : &f->attrs[0];
}

uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs || rec->type >= PTC_REC_USER_START || rec->type == PERF_RECORD_SAMPLE ||
	    !f->attrs[0].attr.sample_id_all)
		return 0;
	if (f->trailer_id > 0 && left >= 8 * (size_t)f->trailer_id)
		word = rec->body.end - 8 * (size_t)f->trailer_id;
	return attr_of_word(f, word)->attr.sample_type;
}

const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
						 const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs)
		return NULL;
	if (f->sample_id >= 0 && left >= 8 * ((size_t)f->sample_id + 1))
		word = rec->body.pos + 8 * (size_t)f->sample_id;
	return attr_of_word(f, word);
}
