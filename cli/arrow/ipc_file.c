/* SPDX-License-Identifier: MIT */
#include "cli/arrow/ipc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/spool.h"
#include "cli/arrow/ipc_head.h"

enum {
	PARTS_MAX = 64,	      /* of a batch: two parts and their padding for each column */
	COPY_LEN = 1 << 20,   /* bytes that are moved at once */
	HOLE = 4 << 20,	      /* space for the head in front of the batches */
	MOVED_MAX = 64 << 20, /* batches up to this size are moved to the end of the head */
};

static const char magic[] = "ARROW1";

static const char *shown_path(const struct ptc_ipc_file *f)
{
	return f->path ? f->path : "standard output";
}

int ptc_ipc_file_open(struct ptc_ipc_file *f, const char *folder, const char *name,
		      struct ptc_err *err)
{
	*f = (struct ptc_ipc_file)PTC_IPC_FILE_INIT;
	if (!folder)
		return ptc_nameless_file(&f->fd, &f->is_memory, err);
	if (asprintf(&f->path, "%s/%s.arrow", folder, name) < 0) {
		f->path = NULL;
		return ptc_fail_mem(err);
	}
	f->fd = open(f->path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd >= 0 && lseek(f->fd, HOLE, SEEK_SET) == HOLE)
		return 0;
	(void)ptc_fail_sys(err, errno, "cannot create '%s'", f->path);
	ptc_ipc_file_release(f);
	return err->code;
}

void ptc_ipc_file_release(struct ptc_ipc_file *f)
{
	if (f->fd >= 0)
		(void)close(f->fd);
	free(f->path);
	free(f->blocks);
	ptc_budget_drop(f->held);
	*f = (struct ptc_ipc_file)PTC_IPC_FILE_INIT;
}

/* --- batches --- */

/* Counts @n bytes of a file in memory. Returns false if they exceed the budget. */
static bool hold_memory(struct ptc_ipc_file *f, uint64_t n)
{
	if (!f->is_memory)
		return true;
	if (!ptc_budget_allows(n))
		return false;
	ptc_budget_hold(n);
	f->held += n;
	return true;
}

int ptc_ipc_file_batch(struct ptc_ipc_file *f, const struct ptc_ipc_batch *batch,
		       struct iovec *parts, int n, struct ptc_err *err)
{
	struct ptc_buf head = PTC_BUF_INIT;
	const uint32_t len = ptc_ipc_put_batch(&head, batch);
	struct iovec iov[PARTS_MAX + 1];
	int rc = 0;

	if (ptc_buf_failed(&head) || !hold_memory(f, len + batch->body) ||
	    !ptc_grow(&f->blocks, &f->cap, f->n + 1, sizeof(*f->blocks)))
		rc = ptc_fail_mem(err);
	if (!rc) {
		iov[0] = (struct iovec){ head.bytes, head.len };
		memcpy(iov + 1, parts, (size_t)n * sizeof(*parts));
		rc = ptc_writev_all(f->fd, iov, n + 1, f->path ? f->path : "temporary file", err);
	}
	ptc_buf_release(&head);
	if (rc)
		return rc;
	f->blocks[f->n++] = (struct ptc_ipc_block){ f->len, len, batch->body };
	f->len += len + batch->body;
	return 0;
}

/* --- moving batches --- */

static int read_there(const struct ptc_ipc_file *f, uint8_t *bytes, size_t n, uint64_t at,
		      struct ptc_err *err)
{
	while (n) {
		const ssize_t got = pread(f->fd, bytes, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ptc_fail_sys(err, got ? errno : EIO, "cannot read '%s'",
					    f->path ? f->path : "temporary file");
		bytes += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

/* Moves all batches from offset @from to offset @to. */
static int move_batches(const struct ptc_ipc_file *f, uint64_t from, uint64_t to,
			struct ptc_err *err)
{
	uint8_t *bytes = malloc(COPY_LEN);
	uint64_t done = 0;
	int rc = bytes ? 0 : ptc_fail_mem(err);

	while (!rc && done < f->len) {
		const size_t n = f->len - done < COPY_LEN ? (size_t)(f->len - done) : COPY_LEN;
		/* To move up, begin at the end, which nothing overwrites. */
		const uint64_t at = to < from ? done : f->len - done - n;

		rc = read_there(f, bytes, n, from + at, err);
		if (!rc)
			rc = ptc_pwrite_all(f->fd, bytes, n, to + at, f->path, err);
		done += n;
	}
	free(bytes);
	return rc;
}

/* --- the head and the end --- */

static int write_footer(const struct ptc_ipc_file *f, const struct ptc_ipc_head *head, uint64_t end,
			struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_ipc_put_end(&b);
	ptc_ipc_put_footer(&b, head->columns, head->ncolumns, head->blocks, head->nblocks,
			   f->blocks, f->n);
	ptc_buf_put(&b, magic, strlen(magic));
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_pwrite_all(f->fd, b.bytes, b.len, end, f->path, err);
	if (!rc && ftruncate(f->fd, (off_t)(end + b.len)))
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", f->path);
	ptc_buf_release(&b);
	return rc;
}

/* Writes the head, in front of the batches, and the footer. */
static int finish_file(struct ptc_ipc_file *f, struct ptc_ipc_head *head, struct ptc_err *err)
{
	uint64_t begin;
	size_t i;
	int rc;

	ptc_buf_str(&head->bytes, magic, 8);
	rc = ptc_ipc_head_put(head, 0, err);
	if (!rc && f->len > MOVED_MAX && head->bytes.len < HOLE) {
		const uint64_t rest = HOLE - head->bytes.len;

		ptc_buf_reset(&head->bytes);
		ptc_buf_str(&head->bytes, magic, 8);
		rc = ptc_ipc_head_put(head, rest, err);
	}
	begin = head->bytes.len;
	if (!rc && begin != HOLE)
		rc = move_batches(f, HOLE, begin, err);
	if (!rc)
		rc = ptc_pwrite_all(f->fd, head->bytes.bytes, head->bytes.len, 0, f->path, err);
	for (i = 0; i < f->n; i++)
		f->blocks[i].off += begin;
	return rc ? rc : write_footer(f, head, begin + f->len, err);
}

/* Writes the head, the batches, and the end to standard output. */
static int finish_stream(const struct ptc_ipc_file *f, struct ptc_ipc_head *head,
			 struct ptc_err *err)
{
	uint8_t *bytes = malloc(COPY_LEN);
	uint64_t done = 0;
	int rc = bytes ? ptc_ipc_head_put(head, 0, err) : ptc_fail_mem(err);

	if (!rc)
		rc = ptc_write_all(STDOUT_FILENO, head->bytes.bytes, head->bytes.len, shown_path(f),
				   err);
	while (!rc && done < f->len) {
		const size_t n = f->len - done < COPY_LEN ? (size_t)(f->len - done) : COPY_LEN;

		rc = read_there(f, bytes, n, done, err);
		if (!rc)
			rc = ptc_write_all(STDOUT_FILENO, bytes, n, shown_path(f), err);
		done += n;
	}
	ptc_buf_reset(&head->bytes);
	ptc_ipc_put_end(&head->bytes);
	if (!rc)
		rc = ptc_buf_failed(&head->bytes) ?
			     ptc_fail_mem(err) :
			     ptc_write_all(STDOUT_FILENO, head->bytes.bytes, head->bytes.len,
					   shown_path(f), err);
	free(bytes);
	return rc;
}

int ptc_ipc_file_finish(struct ptc_ipc_file *f, const struct ptc_ipc_column *columns, size_t n,
			const struct ptc_arrow_names *names, struct ptc_err *err)
{
	struct ptc_ipc_head head = { .columns = columns, .ncolumns = n, .names = names };
	int rc = f->path ? finish_file(f, &head, err) : finish_stream(f, &head, err);
	const int fd = f->fd;

	ptc_buf_release(&head.bytes);
	f->fd = -1;
	if (close(fd) && !rc)
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", shown_path(f));
	return rc;
}
