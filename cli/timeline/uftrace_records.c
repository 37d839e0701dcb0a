/* SPDX-License-Identifier: MIT */
#include "cli/timeline/uftrace_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/io.h"

/* Bytes in memory: of one file, and of all files. */
enum { BUFFER_MAX = 1 << 16, ALL_MAX = 1 << 25, DEPTH_FIELD_MAX = 1023, MAGIC = 5 };

struct ptc_uftrace_file {
	int32_t tid;
	struct ptc_buf buf;
};

void ptc_uftrace_records_release(struct ptc_uftrace_records *r)
{
	size_t i;

	for (i = 0; i < r->nfiles; i++)
		ptc_buf_release(&r->files[i].buf);
	free(r->files);
	ptc_idmap_release(&r->tids);
	*r = (struct ptc_uftrace_records){ .folder = r->folder };
}

/* Appends the buffer to its file, and frees the buffer. */
static int write_records(struct ptc_uftrace_records *r, struct ptc_uftrace_file *f,
			 struct ptc_err *err)
{
	char *path;
	int fd, rc;

	if (ptc_buf_failed(&f->buf) || asprintf(&path, "%s/%d.dat", r->folder, f->tid) < 0)
		return ptc_fail_mem(err);
	fd = open(path, O_CREAT | O_APPEND | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		rc = ptc_fail_sys(err, errno, "cannot create '%s'", path);
	} else {
		rc = ptc_write_all(fd, f->buf.bytes, f->buf.len, path, err);
		if (close(fd) && !rc)
			rc = ptc_fail_sys(err, errno, "cannot write '%s'", path);
	}
	free(path);
	r->buffered -= f->buf.len;
	ptc_buf_release(&f->buf);
	return rc;
}

static struct ptc_uftrace_file *file_of(struct ptc_uftrace_records *r, int32_t tid)
{
	size_t at = ptc_idmap_find(&r->tids, tid);

	if (at < SIZE_MAX)
		return &r->files[at];
	at = r->nfiles;
	if (!ptc_grow(&r->files, &r->files_cap, at + 1, sizeof(*r->files)) ||
	    !ptc_idmap_add(&r->tids, tid, at))
		return NULL;
	r->files[at] = (struct ptc_uftrace_file){ .tid = tid };
	r->nfiles++;
	return &r->files[at];
}

int ptc_uftrace_record(struct ptc_uftrace_records *r, int32_t tid, enum ptc_uftrace_type type,
		       uint32_t depth, uint64_t time, uint64_t address, struct ptc_err *err)
{
	const uint64_t capped = depth < DEPTH_FIELD_MAX ? depth : DEPTH_FIELD_MAX;
	struct ptc_uftrace_file *f = file_of(r, tid);
	size_t before;

	if (!f)
		return ptc_fail_mem(err);
	before = f->buf.len;
	/* struct uftrace_record: bits 0-1 type, 2 more, 3-5 magic, 6-15 depth, 16-63 address */
	ptc_buf_le64(&f->buf, time);
	ptc_buf_le64(&f->buf, (uint64_t)type | (uint64_t)MAGIC << 3 | capped << 6 | address << 16);
	r->buffered += f->buf.len - before;
	if (ptc_buf_failed(&f->buf))
		return ptc_fail_mem(err);
	if (r->buffered >= ALL_MAX)
		return ptc_uftrace_records_flush(r, err);
	return f->buf.len >= BUFFER_MAX ? write_records(r, f, err) : 0;
}

int ptc_uftrace_records_flush(struct ptc_uftrace_records *r, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < r->nfiles && !rc; i++)
		if (r->files[i].buf.len)
			rc = write_records(r, &r->files[i], err);
	return rc;
}

int32_t ptc_uftrace_records_tid(const struct ptc_uftrace_records *r, size_t i)
{
	return r->files[i].tid;
}
