/* SPDX-License-Identifier: MIT */
#include "auxtrace/writer/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/writer/writer_private.h"
#include "base/err.h"
#include "base/io.h"
#include "base/opts.h"
#include "base/vec.h"

enum {
	BUFFER_SIZE = 256 * 1024,
	/* Disk space for the rest of the buffer, the features and the ledger. */
	RESERVE = 1 << 20,
};
static_assert(RESERVE > 2 * BUFFER_SIZE, "there is room for more than the buffer");

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

/* Returns a writer without a file, or NULL without memory. */
static struct ptc_writer *new_writer(void)
{
	struct ptc_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->file = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
	w->reserve = -1;
	w->buf = malloc(BUFFER_SIZE);
	if (w->buf)
		return w;
	free(w);
	return NULL;
}

int ptc_writer_new_as(const char *path, const struct ptc_writer_opts *opts, struct ptc_writer **ret,
		      struct ptc_err *err)
{
	const struct ptc_writer_opts defaults = PTC_WRITER_OPTS_INIT;
	struct ptc_writer *w = new_writer();
	int rc;

	if (!w)
		return ptc_fail_mem(err);
	rc = ptc_opts_take(&w->opts, sizeof(w->opts), opts ? opts : &defaults,
			   "PTC_WRITER_OPTS_INIT", err);
	if (!rc && w->opts.pipe && !strcmp(path, "-"))
		rc = open_stdout(w, err);
	else if (!rc)
		rc = ptc_tmpfile_open(&w->file, path, err);
	if (rc)
		ptc_writer_free(w);
	else
		*ret = w;
	return rc;
}

/* Makes a file in memory the file of @w. *@ret_fd: another descriptor of that file. */
static int open_memory(struct ptc_writer *w, int *ret_fd, struct ptc_err *err)
{
	w->to_stdout = true;
	w->file.path = strdup("a recording in memory");
	w->file.fd = memfd_create("ptcap-recording", MFD_CLOEXEC);
	*ret_fd = w->file.fd < 0 ? -1 : fcntl(w->file.fd, F_DUPFD_CLOEXEC, 0);
	if (*ret_fd < 0)
		return ptc_fail_sys(err, errno, "cannot create a recording in memory");
	return 0;
}

int ptc_writer_new_in_memory(struct ptc_writer **ret, int *ret_fd, struct ptc_err *err)
{
	struct ptc_writer *w = new_writer();
	int rc;

	if (!w)
		return ptc_fail_mem(err);
	rc = open_memory(w, ret_fd, err);
	if (!rc && !w->file.path) {
		(void)close(*ret_fd);
		rc = ptc_fail_mem(err);
	}
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
	ptc_buf_release(&w->sample);
	free(w->pieces);
	free(w->buf);
	free(w);
}

/* The last data may be half written, so every later call must fail. */
static int save_writer_error(struct ptc_writer *w, struct ptc_err *err)
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

int ptc_writer_compress(struct ptc_writer *w, unsigned int level, struct ptc_err *err)
{
	assert(!w->data_off && !w->compressor);
	w->level = level;
	return ptc_compressor_new(level, &w->compressor, err);
}

static int flush(struct ptc_writer *w, struct ptc_err *err)
{
	if (ptc_write_all(w->file.fd, w->buf, w->buf_len, w->file.path, err))
		return save_writer_error(w, err);
	w->in_file += w->buf_len;
	w->buf_len = 0;
	return 0;
}

int ptc_writer_append(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err)
{
	if (len > BUFFER_SIZE - w->buf_len) {
		if (flush(w, err))
			return err->code;
		if (len > BUFFER_SIZE / 2) { /* a large block is not worth a copy */
			if (ptc_write_all(w->file.fd, bytes, len, w->file.path, err))
				return save_writer_error(w, err);
			w->in_file += len;
			return 0;
		}
	}
	if (len)
		memcpy(w->buf + w->buf_len, bytes, len);
	w->buf_len += len;
	return 0;
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
		rc = ptc_writer_put_pipe_front(w, &b, err);
	else
		ptc_writer_put_front(w, &b);
	if (!rc)
		rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
					  ptc_writer_append(w, b.bytes, b.len, err);
	if (!rc)
		w->data_off = b.len;
	ptc_buf_release(&b);
	return rc;
}

static int append_data(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err)
{
	int rc = ptc_writer_append(w, bytes, len, err);

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
		return save_writer_error(w, err);
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
			return save_writer_error(w, err);
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
		return ptc_fail_sys(err, errno, "cannot truncate '%s'", w->file.path);
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

/* Write all ids of the events that got more ids after the data began. */
static int write_late_ids(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, j;
	int rc;

	w->late_off = w->in_file + w->buf_len;
	for (i = 0; i < w->nevents; i++) {
		const struct ptc_writer_event *e = &w->events[i];

		for (j = 0; j < e->nids && e->nids > e->front_nids; j++)
			ptc_buf_le64(&b, e->ids[j]);
	}
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) : ptc_writer_append(w, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

/* Written last: until then the file has a data size of 0. */
static int write_front(struct ptc_writer *w, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_writer_put_front(w, &b);
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
	int rc = ptc_writer_make_features(w, err);

	if (!rc)
		rc = ptc_writer_write_features(w, err);
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
