/* SPDX-License-Identifier: MIT */
#include "auxtrace/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/attr.h"
#include "auxtrace/compress.h"
#include "auxtrace/pipe_out.h"
#include "base/err.h"
#include "base/io.h"
#include "base/opts.h"
#include "base/tmpfile.h"
#include "base/vec.h"

enum {
	BUFFER_SIZE = 256 * 1024,
	/* Disk space for the rest of the buffer, the features and the ledger. */
	RESERVE = 1 << 20,
};
static_assert(RESERVE > 2 * BUFFER_SIZE, "there is room for more than the buffer");

struct event {
	struct perf_event_attr attr;
	uint8_t *stored; /* owned; the attr as stored in a file; NULL: attr and name are used */
	size_t stored_len;
	char *name;
	uint64_t *ids;
	size_t nids;
	size_t front_nids; /* ids before the data; if nids is larger, all ids are behind the data */
};

struct ptc_writer {
	struct ptc_tmpfile file;
	struct ptc_writer_opts opts;
	bool to_stdout; /* file has no path to be renamed to */
	struct event *events;
	size_t nevents, events_cap;
	struct ptc_buf features[PTC_FEATURE_BITS];
	bool has[PTC_FEATURE_BITS];
	struct ptc_auxtrace_entry *pieces; /* entries for the AUXTRACE feature */
	size_t npieces, pieces_cap;
	uint64_t data_off; /* 0: no record yet, events may still be declared */
	uint64_t data_size;
	uint64_t late_off; /* offset of the ids that came after the data began */
	uint64_t in_file;  /* bytes written; buf follows */
	uint8_t *buf;
	size_t buf_len;
	uint64_t whole;	     /* size of the data section up to the last complete record */
	size_t whole_pieces; /* number of pieces at that point */
	int reserve;	     /* file that reserves disk space; -1: none */
	bool cut;	     /* the disk was full: no compression any more */
	struct ptc_compressor *compressor; /* NULL: records are not compressed */
	unsigned int level;
	struct ptc_writer_packed packed;
	struct ptc_err failed; /* the first error, which every later call returns; code 0: none */
};

static int open_stdout(struct ptc_writer *w, struct ptc_err *err)
{
	w->to_stdout = true;
	w->file.path = strdup("standard output");
	if (!w->file.path)
		return ptc_fail_mem(err);
	w->file.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (w->file.fd < 0)
		return ptc_fail_sys(err, errno, "cannot write standard output");
	return 0;
}

int ptc_writer_new(const char *path, struct ptc_writer **ret, struct ptc_err *err)
{
	return ptc_writer_new_as(path, NULL, ret, err);
}

int ptc_writer_new_as(const char *path, const struct ptc_writer_opts *opts, struct ptc_writer **ret,
		      struct ptc_err *err)
{
	const struct ptc_writer_opts defaults = PTC_WRITER_OPTS_INIT;
	struct ptc_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return ptc_fail_mem(err);
	w->file = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
	w->reserve = -1;
	w->buf = malloc(BUFFER_SIZE);
	rc = ptc_opts_take(&w->opts, sizeof(w->opts), opts ? opts : &defaults,
			   "PTC_WRITER_OPTS_INIT", err);
	if (!rc && !w->buf)
		rc = ptc_fail_mem(err);
	else if (!rc && w->opts.pipe && !strcmp(path, "-"))
		rc = open_stdout(w, err);
	else if (!rc)
		rc = ptc_tmpfile_open(&w->file, path, err);
	if (rc)
		ptc_writer_free(w);
	else
		*ret = w;
	return rc;
}

static void drop_reserve(struct ptc_writer *w)
{
	if (w->reserve >= 0)
		(void)close(w->reserve);
	w->reserve = -1;
}

void ptc_writer_free(struct ptc_writer *w)
{
	size_t i;

	if (!w)
		return;
	ptc_tmpfile_release(&w->file);
	drop_reserve(w);
	for (i = 0; i < w->nevents; i++) {
		free(w->events[i].stored);
		free(w->events[i].name);
		free(w->events[i].ids);
	}
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		ptc_buf_release(&w->features[i]);
	free(w->events);
	ptc_compressor_free(w->compressor);
	free(w->pieces);
	free(w->buf);
	free(w);
}

/* The last data may be half written, so every later call must fail. */
static int fail(struct ptc_writer *w, struct ptc_err *err)
{
	w->failed = *err;
	return err->code;
}

static int check(const struct ptc_writer *w, struct ptc_err *err)
{
	if (w->failed.code)
		*err = w->failed;
	return w->failed.code;
}

/* Append @e, and take ownership of its members. */
static int add_event(struct ptc_writer *w, struct event *e, const uint64_t *ids, size_t nids,
		     struct ptc_err *err)
{
	void *items = w->events;

	assert(!w->data_off);
	e->ids = calloc(nids ? nids : 1, sizeof(*ids));
	if ((!e->name && !e->stored) || !e->ids ||
	    !ptc_vec_reserve(&items, &w->events_cap, w->nevents + 1, sizeof(*e))) {
		free(e->stored);
		free(e->name);
		free(e->ids);
		return ptc_fail_mem(err);
	}
	w->events = items;
	if (nids)
		memcpy(e->ids, ids, nids * sizeof(*ids));
	e->nids = e->front_nids = nids;
	w->events[w->nevents++] = *e;
	return 0;
}

static int check_event(const struct ptc_writer *w, size_t nids, struct ptc_err *err)
{
	if (w->nevents == PTC_LIMIT_ATTRS || nids > PTC_LIMIT_IDS)
		return ptc_fail(err, PTC_E_LIMIT, "more than %u events or %u ids of one",
				PTC_LIMIT_ATTRS, PTC_LIMIT_IDS);
	return 0;
}

int ptc_writer_attr(struct ptc_writer *w, const struct perf_event_attr *attr, const char *name,
		    const uint64_t *ids, size_t nids, struct ptc_err *err)
{
	const size_t have = attr->size ? attr->size : PERF_ATTR_SIZE_VER7;
	struct event e = { .nids = 0 };
	int rc = check_event(w, nids, err);

	if (rc)
		return rc;
	memcpy(&e.attr, attr, have < sizeof(e.attr) ? have : sizeof(e.attr));
	e.name = strdup(name);
	return add_event(w, &e, ids, nids, err);
}

int ptc_writer_attr_stored(struct ptc_writer *w, struct ptc_cur attr, const uint64_t *ids,
			   size_t nids, struct ptc_err *err)
{
	struct event e = { .stored_len = ptc_cur_left(&attr) };
	int rc = check_event(w, nids, err);

	assert(e.stored_len >= PERF_ATTR_SIZE_VER0);
	if (rc)
		return rc;
	if (e.stored_len > PTC_LIMIT_ATTR)
		return ptc_fail(err, PTC_E_LIMIT, "an event's attributes have %zu bytes, not %u",
				e.stored_len, PTC_LIMIT_ATTR);
	e.stored = malloc(e.stored_len);
	if (e.stored)
		memcpy(e.stored, attr.pos, e.stored_len);
	return add_event(w, &e, ids, nids, err);
}

int ptc_writer_late_ids(struct ptc_writer *w, size_t event, const uint64_t *ids, size_t nids,
			struct ptc_err *err)
{
	struct event *e = &w->events[event];
	uint64_t *all;

	assert(event < w->nevents && nids >= e->nids);
	if (w->opts.pipe)
		return ptc_fail(err, PTC_E_UNSUPPORTED, "in a pipe an event gets no more ids");
	if (nids > PTC_LIMIT_IDS)
		return check_event(w, nids, err);
	all = reallocarray(e->ids, nids + 1, sizeof(*all));
	if (!all)
		return ptc_fail_mem(err);
	memcpy(all, ids, nids * sizeof(*all));
	e->ids = all;
	e->nids = nids;
	return 0;
}

int ptc_writer_compress(struct ptc_writer *w, unsigned int level, struct ptc_err *err)
{
	assert(!w->data_off && !w->compressor);
	w->level = level;
	return ptc_compressor_new(level, &w->compressor, err);
}

static uint32_t event_size(const struct event *e)
{
	const uint32_t least = PERF_ATTR_SIZE_VER7;

	if (e->stored)
		return (uint32_t)(e->stored_len + (-e->stored_len & 7));
	return ptc_attr_stored_size(&e->attr) > least ? ptc_attr_stored_size(&e->attr) : least;
}

/* All attrs of a file have one size. */
static uint32_t attr_size(const struct ptc_writer *w)
{
	uint32_t size = w->nevents ? 0 : PERF_ATTR_SIZE_VER7;
	size_t i;

	for (i = 0; i < w->nevents; i++)
		if (event_size(&w->events[i]) > size)
			size = event_size(&w->events[i]);
	return size;
}

static void put_attr(struct ptc_buf *b, const struct event *e, uint32_t size)
{
	if (e->stored)
		ptc_pipe_put_attr_bytes(b, ptc_cur_init(e->stored, e->stored_len), size);
	else
		ptc_attr_put(b, &e->attr, size);
}

static void put_section(struct ptc_buf *b, uint64_t off, uint64_t size)
{
	ptc_buf_le64(b, off);
	ptc_buf_le64(b, size);
}

/* Returns the offset of the ids of @e, before or behind the data. Both positions advance. */
static uint64_t section_of_ids(const struct event *e, uint64_t *front, uint64_t *late)
{
	uint64_t *from = e->nids > e->front_nids ? late : front;
	const uint64_t off = *from;

	*front += e->front_nids * 8;
	if (from == late)
		*late += e->nids * 8;
	return off;
}

/* Write everything before the data: header, ids, attrs. Its size depends on the events only. */
static void put_front(const struct ptc_writer *w, struct ptc_buf *b)
{
	const uint32_t size = attr_size(w);
	const uint64_t entry = size + UINT64_C(16);
	uint64_t ids_off = PTC_FILE_HEADER_SIZE;
	uint64_t attrs_off = ids_off, late_off = w->late_off;
	uint64_t bitmap[PTC_FEATURE_BITS / 64] = { 0 };
	size_t i, j;

	for (i = 0; i < w->nevents; i++)
		attrs_off += w->events[i].front_nids * 8;
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		if (w->has[i])
			bitmap[i / 64] |= UINT64_C(1) << i % 64;
	ptc_buf_put(b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(b, PTC_FILE_HEADER_SIZE);
	ptc_buf_le64(b, entry);
	put_section(b, attrs_off, w->nevents * entry);
	put_section(b, attrs_off + w->nevents * entry, w->data_size);
	put_section(b, 0, 0); /* event types: unused for a long time */
	for (i = 0; i < PTC_FEATURE_BITS / 64; i++)
		ptc_buf_le64(b, bitmap[i]);
	for (i = 0; i < w->nevents; i++)
		for (j = 0; j < w->events[i].front_nids; j++)
			ptc_buf_le64(b, w->events[i].ids[j]);
	for (i = 0; i < w->nevents; i++) {
		put_attr(b, &w->events[i], size);
		put_section(b, section_of_ids(&w->events[i], &ids_off, &late_off),
			    w->events[i].nids * 8);
	}
}

static int flush(struct ptc_writer *w, struct ptc_err *err)
{
	if (ptc_write_all(w->file.fd, w->buf, w->buf_len, w->file.path, err))
		return fail(w, err);
	w->in_file += w->buf_len;
	w->buf_len = 0;
	return 0;
}

static int append(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err)
{
	if (len > BUFFER_SIZE - w->buf_len) {
		if (flush(w, err))
			return err->code;
		if (len > BUFFER_SIZE / 2) { /* a large block is not worth a copy */
			if (ptc_write_all(w->file.fd, bytes, len, w->file.path, err))
				return fail(w, err);
			w->in_file += len;
			return 0;
		}
	}
	if (len)
		memcpy(w->buf + w->buf_len, bytes, len);
	w->buf_len += len;
	return 0;
}

/* perf allocates mmap_len bytes for each COMPRESSED record that it reads. */
static void make_compressed(struct ptc_writer *w)
{
	struct ptc_buf *b = &w->features[PTC_FEAT_COMPRESSED];
	struct ptc_compressed c = {
		.version = PTC_COMPRESSED_VERSION,
		.type = PTC_COMPRESSED_ZSTD,
		.level = w->level,
		.mmap_len = 1 << 16,
	};

	static_assert(PTC_COMPRESS_PIECE <= 1 << 16, "mmap_len");
	if (w->packed.out)
		c.ratio = (uint32_t)((w->packed.in + w->packed.out / 2) / w->packed.out);
	ptc_buf_reset(b);
	ptc_feature_put_compressed(b, &c);
	w->has[PTC_FEAT_COMPRESSED] = true;
}

/* Write the contents of a file's header as records. */
static int put_pipe_front(struct ptc_writer *w, struct ptc_buf *b, struct ptc_err *err)
{
	unsigned int bit;
	size_t i;
	int rc = 0;

	ptc_pipe_put_header(b);
	/*
	 * COMPRESSED comes first: the attrs and features of a copied pipe may follow as records
	 * (ptc_copy).
	 */
	if (w->compressor) {
		make_compressed(w);
		ptc_pipe_put_feature(b, PTC_FEAT_COMPRESSED, &w->features[PTC_FEAT_COMPRESSED]);
		w->has[PTC_FEAT_COMPRESSED] = false;
	}
	for (i = 0; i < w->nevents && !rc; i++) {
		struct ptc_buf attr = PTC_BUF_INIT;

		put_attr(&attr, &w->events[i], event_size(&w->events[i]));
		rc = ptc_buf_failed(&attr) ?
			     ptc_fail_mem(err) :
			     ptc_pipe_put_attr(b, &attr, w->events[i].ids, w->events[i].nids, err);
		ptc_buf_release(&attr);
	}
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		if (w->has[bit])
			ptc_pipe_put_feature(b, bit, &w->features[bit]);
	if (w->nevents)
		ptc_pipe_put_end(b);
	return rc;
}

/*
 * Write a preliminary front, which commit overwrites. If the writer is killed, the data size is 0.
 */
static int begin_data(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = check(w, err);

	if (rc || w->data_off)
		return rc;
	if (w->opts.pipe)
		rc = put_pipe_front(w, &b, err);
	else
		put_front(w, &b);
	if (!rc)
		rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : append(w, b.bytes, b.len, err);
	if (!rc)
		w->data_off = b.len;
	ptc_buf_release(&b);
	return rc;
}

static int append_data(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err)
{
	int rc = append(w, bytes, len, err);

	if (!rc)
		w->data_size += len;
	return rc;
}

/* Write the compressor's contents as a record. */
static int flush_compressor(struct ptc_writer *w, struct ptc_err *err)
{
	const void *rec;
	size_t len;
	int rc;

	if (!w->compressor || w->cut)
		return 0;
	rc = ptc_compressor_finish(w->compressor, &rec, &len, err);
	if (rc)
		return fail(w, err);
	w->packed.out += len;
	return len ? append_data(w, rec, len, err) : 0;
}

static int compress(struct ptc_writer *w, const struct ptc_seg *seg, struct ptc_err *err)
{
	const uint8_t *bytes = seg->bytes;
	size_t left = seg->len, taken;
	int rc = 0;

	while (!rc && left) {
		if (ptc_compressor_add(w->compressor, bytes, left, &taken, err))
			return fail(w, err);
		bytes += taken;
		left -= taken;
		if (left)
			rc = flush_compressor(w, err);
	}
	w->packed.in += seg->len;
	return rc;
}

/* Mark the data up to here as complete if @rc is 0. Returns @rc. */
static int ended(struct ptc_writer *w, int rc)
{
	if (!rc) {
		w->whole = w->data_size;
		w->whole_pieces = w->npieces;
	}
	return rc;
}

static int append_segs(struct ptc_writer *w, const struct ptc_seg seg[2], struct ptc_err *err)
{
	int rc = append_data(w, seg[0].bytes, seg[0].len, err);

	return rc ? rc : append_data(w, seg[1].bytes, seg[1].len, err);
}

int ptc_writer_records(struct ptc_writer *w, const struct ptc_seg seg[2], struct ptc_err *err)
{
	int rc = begin_data(w, err);

	assert((seg[0].len + seg[1].len) % 8 == 0);
	if (rc)
		return rc;
	if (!w->compressor || w->cut)
		return ended(w, append_segs(w, seg, err));
	rc = compress(w, &seg[0], err);
	return ended(w, rc ? rc : compress(w, &seg[1], err));
}

int ptc_writer_plain(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err)
{
	int rc = begin_data(w, err);

	assert(len % 8 == 0);
	if (!rc)
		rc = flush_compressor(w, err);
	return ended(w, rc ? rc : append_data(w, bytes, len, err));
}

int ptc_writer_stored(struct ptc_writer *w, const void *rec, size_t len, bool compress_it,
		      struct ptc_err *err)
{
	const struct ptc_seg seg = { rec, len };
	int rc = begin_data(w, err);

	if (rc)
		return rc;
	if (w->compressor && compress_it && !w->cut)
		return ended(w, compress(w, &seg, err));
	rc = flush_compressor(w, err);
	return ended(w, rc ? rc : append_data(w, rec, len, err));
}

void ptc_writer_packed(const struct ptc_writer *w, struct ptc_writer_packed *ret)
{
	*ret = w->packed;
}

/* Begin an AUXTRACE record of @size bytes: add it to the AUXTRACE feature. */
static int begin_piece(struct ptc_writer *w, size_t size, struct ptc_err *err)
{
	void *items = w->pieces;
	int rc = begin_data(w, err);

	if (!rc)
		rc = flush_compressor(w, err);
	if (rc)
		return rc;
	if (!ptc_vec_reserve(&items, &w->pieces_cap, w->npieces + 1, sizeof(*w->pieces)))
		return ptc_fail_mem(err);
	w->pieces = items;
	w->pieces[w->npieces++] = (struct ptc_auxtrace_entry){
		.off = w->data_off + w->data_size,
		.size = size,
	};
	return 0;
}

int ptc_writer_auxtrace(struct ptc_writer *w, const struct ptc_auxtrace *a,
			const struct ptc_seg seg[2], struct ptc_err *err)
{
	static const uint8_t pad[8];
	const size_t len = seg[0].len + seg[1].len;
	struct ptc_auxtrace rec = *a;
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	rec.size = len + (-len & 7);
	ptc_auxtrace_put(&b, &rec);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : begin_piece(w, PTC_AUXTRACE_SIZE, err);
	if (!rc)
		rc = append_data(w, b.bytes, b.len, err);
	if (!rc)
		rc = append_segs(w, seg, err);
	if (!rc)
		rc = append_data(w, pad, -len & 7, err);
	ptc_buf_release(&b);
	return ended(w, rc);
}

int ptc_writer_piece(struct ptc_writer *w, struct ptc_cur rec, struct ptc_cur payload,
		     struct ptc_err *err)
{
	int rc = begin_piece(w, ptc_cur_left(&rec), err);

	if (!rc)
		rc = append_data(w, rec.pos, ptc_cur_left(&rec), err);
	return ended(w, rc ? rc : append_data(w, payload.pos, ptc_cur_left(&payload), err));
}

bool ptc_writer_reserve(struct ptc_writer *w)
{
	if (w->reserve < 0 && !w->to_stdout)
		w->reserve = ptc_tmpfile_nameless(&w->file);
	if (w->reserve < 0)
		return false;
	if (!fallocate(w->reserve, 0, 0, RESERVE))
		return true;
	drop_reserve(w);
	return false;
}

int ptc_writer_cut(struct ptc_writer *w, struct ptc_err *err)
{
	const uint64_t end = w->data_off + w->whole;

	if (!w->failed.code || w->reserve < 0 || !w->data_off) {
		*err = w->failed;
		return err->code;
	}
	if (end < w->in_file)
		w->in_file = end;
	w->buf_len = (size_t)(end - w->in_file);
	if (ftruncate(w->file.fd, (off_t)w->in_file) ||
	    lseek(w->file.fd, (off_t)w->in_file, SEEK_SET) < 0)
		return ptc_fail_sys(err, errno, "cannot cut '%s'", w->file.path);
	drop_reserve(w);
	w->data_size = w->whole;
	w->npieces = w->whole_pieces;
	w->cut = true;
	w->failed = (struct ptc_err){ .code = PTC_OK };
	return 0;
}

uint64_t ptc_writer_data_size(const struct ptc_writer *w)
{
	return w->data_size;
}

int ptc_writer_feature(struct ptc_writer *w, unsigned int bit, const void *bytes, size_t len,
		       struct ptc_err *err)
{
	assert(bit > 0 && bit < PTC_FEATURE_BITS);
	if (len > PTC_LIMIT_FEATURE)
		return ptc_fail(err, PTC_E_LIMIT, "feature %u has %zu bytes, at most %llu fit", bit,
				len, PTC_LIMIT_FEATURE);
	ptc_buf_reset(&w->features[bit]);
	ptc_buf_put(&w->features[bit], bytes, len);
	if (ptc_buf_failed(&w->features[bit]))
		return ptc_fail_mem(err);
	w->has[bit] = true;
	return 0;
}

static void make_event_desc(const struct ptc_writer *w, struct ptc_event_desc *d,
			    struct ptc_buf *out)
{
	size_t i;

	for (i = 0; i < w->nevents; i++)
		d[i] = (struct ptc_event_desc){
			.attr = &w->events[i].attr,
			.name = w->events[i].name,
			.ids = w->events[i].ids,
			.nids = w->events[i].nids,
		};
	ptc_feature_put_event_desc(out, d, w->nevents);
}

static int put_event_desc(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_event_desc *d = calloc(w->nevents ? w->nevents : 1, sizeof(*d));

	if (!d)
		return ptc_fail_mem(err);
	ptc_buf_reset(&w->features[PTC_FEAT_EVENT_DESC]);
	make_event_desc(w, d, &w->features[PTC_FEAT_EVENT_DESC]);
	w->has[PTC_FEAT_EVENT_DESC] = true;
	free(d);
	return 0;
}

static int make_features(struct ptc_writer *w, struct ptc_err *err)
{
	unsigned int bit;
	bool failed = false;

	if (!w->opts.copy && put_event_desc(w, err))
		return err->code;
	if (!w->opts.copy || w->npieces || w->has[PTC_FEAT_AUXTRACE]) {
		ptc_buf_reset(&w->features[PTC_FEAT_AUXTRACE]);
		/*
		 * perf seeks to the AUXTRACE records with this feature instead of reading the whole
		 * file
		 */
		ptc_feature_put_auxtrace(&w->features[PTC_FEAT_AUXTRACE], w->pieces, w->npieces);
		w->has[PTC_FEAT_AUXTRACE] = true;
	}
	if (w->compressor)
		make_compressed(w);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		failed |= ptc_buf_failed(&w->features[bit]);
	return failed ? ptc_fail_mem(err) : 0;
}

/* Write a table of sections in the order of their bits, then the sections. */
static int write_features(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf table = PTC_BUF_INIT;
	uint64_t off = w->data_off + w->data_size;
	unsigned int bit;
	int rc;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		off += w->has[bit] ? 16 : 0;
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		if (!w->has[bit])
			continue;
		put_section(&table, off, w->features[bit].len);
		off += w->features[bit].len;
	}
	rc = ptc_buf_failed(&table) ? ptc_fail_mem(err) : append(w, table.bytes, table.len, err);
	ptc_buf_release(&table);
	for (bit = 0; bit < PTC_FEATURE_BITS && !rc; bit++)
		if (w->has[bit])
			rc = append(w, w->features[bit].bytes, w->features[bit].len, err);
	return rc;
}

/* Write all ids of the events that got more ids after the data began. */
static int write_late_ids(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, j;
	int rc;

	w->late_off = w->in_file + w->buf_len;
	for (i = 0; i < w->nevents; i++) {
		const struct event *e = &w->events[i];

		for (j = 0; j < e->nids && e->nids > e->front_nids; j++)
			ptc_buf_le64(&b, e->ids[j]);
	}
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : append(w, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

/* Written last: until then the file has a data size of 0. */
static int write_front(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	put_front(w, &b);
	if (ptc_buf_failed(&b)) {
		rc = ptc_fail_mem(err);
	} else {
		assert(b.len == w->data_off);
		rc = ptc_pwrite_all(w->file.fd, b.bytes, b.len, 0, w->file.path, err);
	}
	ptc_buf_release(&b);
	return rc;
}

/* Write the parts that only file mode has: features, late ids and the final header. */
static int finish_file(struct ptc_writer *w, struct ptc_err *err)
{
	int rc = make_features(w, err);

	if (!rc)
		rc = write_features(w, err);
	if (!rc)
		rc = write_late_ids(w, err);
	if (!rc)
		rc = flush(w, err);
	return rc ? rc : write_front(w, err);
}

int ptc_writer_commit(struct ptc_writer *w, struct ptc_err *err)
{
	int rc = begin_data(w, err);

	if (!rc)
		rc = flush_compressor(w, err);
	if (!rc)
		rc = w->opts.pipe ? flush(w, err) : finish_file(w, err);
	if (!rc && !w->to_stdout)
		rc = ptc_tmpfile_commit(&w->file, err);
	ptc_writer_free(w);
	return rc;
}
