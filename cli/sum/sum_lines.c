/* SPDX-License-Identifier: MIT */
#include "cli/sum/sum_lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/err.h"

enum { CHUNK = 1 << 16 };

/* Drops the lines in front, and reads more bytes. */
static int read_more(struct ptc_sum_lines *r, const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint8_t *room;
	ssize_t n;

	if (r->at) {
		memmove(r->buf.bytes, r->buf.bytes + r->at, r->buf.len - r->at);
		r->buf.len -= r->at;
		r->at = 0;
	}
	if (r->buf.len > PTC_SUM_LINE_MAX)
		return ptc_sum_fail(err, l,
				    "the line has more than 16 MiB; ptcap writes no such lines");
	room = ptc_budget_allows(CHUNK) ? ptc_buf_grow(&r->buf, CHUNK) : NULL;
	if (!room)
		return ptc_fail_mem(err);
	do
		n = read(r->fd, room, CHUNK);
	while (n < 0 && errno == EINTR);
	r->buf.len -= CHUNK - (size_t)(n > 0 ? n : 0);
	if (n < 0)
		return ptc_fail_sys(err, errno, "cannot read '%s'", l->file);
	r->ended = !n;
	return 0;
}

int ptc_sum_lines_next(struct ptc_sum_lines *r, struct ptc_sum_line *l, struct ptc_err *err)
{
	size_t searched = 0;
	uint8_t *end = NULL;
	int rc;

	l->number++;
	for (;;) {
		if (r->buf.len > r->at + searched)
			end = memchr(r->buf.bytes + r->at + searched, '\n',
				     r->buf.len - r->at - searched);
		if (end || r->ended)
			break;
		searched = r->buf.len - r->at;
		rc = read_more(r, l, err);
		if (rc)
			return rc;
	}
	if (!end && r->at == r->buf.len) {
		l->number--;
		return 0;
	}
	if (!end)
		return ptc_sum_fail(err, l,
				    "the file ends inside the line; write or copy the file again");
	l->text = (char *)r->buf.bytes + r->at;
	l->len = (size_t)(end - (r->buf.bytes + r->at));
	*end = '\0';
	r->at += l->len + 1;
	if (!strncmp(l->text, "PERFILE2", 8))
		return ptc_sum_fail(err, l,
				    "a recording; add what `ptcap decode` prints, for example with "
				    "--counts=edges --format=json");
	if (strlen(l->text) != l->len)
		return ptc_sum_fail(err, l, "the line has a NUL byte; ptcap writes no such lines");
	return 1;
}

void ptc_sum_lines_release(struct ptc_sum_lines *r)
{
	ptc_buf_release(&r->buf);
}
