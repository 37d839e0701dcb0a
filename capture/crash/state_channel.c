/* SPDX-License-Identifier: MIT */
#include "capture/crash/state_channel.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"

int ptc_states_open(struct ptc_states *s, struct ptc_err *err)
{
	s->fd = memfd_create("ptcap-crash", MFD_CLOEXEC);
	if (s->fd < 0)
		return ptc_fail_sys(err, errno, "cannot create a file for the state of a crash");
	return 0;
}

void ptc_states_release(struct ptc_states *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	*s = (struct ptc_states)PTC_STATES_INIT;
}

int ptc_states_add(const struct ptc_states *s, const struct ptc_state *state, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_state_put(&b, state);
	rc = ptc_states_add_records(s, &b, err);
	ptc_buf_release(&b);
	return rc;
}

int ptc_states_add_records(const struct ptc_states *s, const struct ptc_buf *b, struct ptc_err *err)
{
	return ptc_buf_failed(b) ? ptc_fail_mem(err) :
				   ptc_write_all(s->fd, b->bytes, b->len, "the saved records", err);
}

int ptc_states_replace(const struct ptc_states *s, const struct ptc_buf *b, struct ptc_err *err)
{
	if (ftruncate(s->fd, 0) || lseek(s->fd, 0, SEEK_SET))
		return ptc_fail_sys(err, errno, "cannot replace the saved records");
	return ptc_states_add_records(s, b, err);
}

/* Appends the bytes from offset @from on. *@ret_end: the total number of bytes. */
static int get_from(const struct ptc_states *s, off_t from, struct ptc_buf *b, off_t *ret_end,
		    struct ptc_err *err)
{
	const off_t end = s->fd < 0 ? 0 : lseek(s->fd, 0, SEEK_END);
	const off_t len = end - from;
	uint8_t *to = len > 0 ? ptc_buf_grow(b, (size_t)len) : NULL;

	if (end < 0 || (to && pread(s->fd, to, (size_t)len, from) != len))
		return ptc_fail_sys(err, errno, "cannot read the saved records");
	if (ptc_buf_failed(b))
		return ptc_fail_mem(err);
	*ret_end = end;
	return 0;
}

int ptc_states_take(struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err)
{
	return get_from(s, s->taken, b, &s->taken, err);
}

int ptc_states_get(const struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err)
{
	off_t end;

	return get_from(s, 0, b, &end, err);
}
