/* SPDX-License-Identifier: MIT */
#include "cli/serve/temp_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/err.h"
#include "base/io.h"
#include "base/spool.h"

static const char file_name[] = "temporary file";

int ptc_temp_store_open(struct ptc_temp_store *s, uint64_t limit, struct ptc_err *err)
{
	*s = (struct ptc_temp_store){ .fd = -1, .limit = limit, .size = 1 };
	s->block = malloc(PTC_STORE_BLOCK);
	return s->block ? ptc_nameless_file(&s->fd, &s->is_memory, err) : ptc_fail_mem(err);
}

void ptc_temp_store_release(struct ptc_temp_store *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s->block);
	ptc_budget_drop(s->held);
	*s = (struct ptc_temp_store){ .fd = -1 };
}

int ptc_temp_store_append(struct ptc_temp_store *s, const void *bytes, size_t n, uint64_t *ret_at,
			  struct ptc_err *err)
{
	int rc;

	if (n > s->limit || s->size > s->limit - n)
		return ptc_fail(err, PTC_E_LIMIT, "the %s would be larger than %" PRIu64 " MiB",
				file_name, s->limit >> 20);
	if (s->is_memory) {
		if (!ptc_budget_allows(n))
			return ptc_fail_mem(err);
		ptc_budget_hold(n);
		s->held += n;
	}
	rc = ptc_pwrite_all(s->fd, bytes, n, s->size, file_name, err);
	if (rc)
		return rc;
	*ret_at = s->size;
	s->size += n;
	return 0;
}

int ptc_temp_store_replace(struct ptc_temp_store *s, uint64_t at, const void *bytes, size_t n,
			   struct ptc_err *err)
{
	if (n > s->size || at > s->size - n)
		return ptc_fail(err, PTC_E_FORMAT, "the %s has no such place", file_name);
	s->block_len = 0;
	return ptc_pwrite_all(s->fd, bytes, n, at, file_name, err);
}

/* Returns the bytes that were read, which are fewer than @n at the end of the file; -1: errno. */
static ssize_t read_store(int fd, uint64_t at, uint8_t *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		const ssize_t got = pread(fd, bytes + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int ptc_temp_store_read(struct ptc_temp_store *s, uint64_t at, void *bytes, size_t n,
			struct ptc_err *err)
{
	ssize_t got;

	if (n > s->size || at > s->size - n)
		return ptc_fail(err, PTC_E_FORMAT, "the %s has no such place", file_name);
	if (n > PTC_STORE_BLOCK / 4) {
		got = read_store(s->fd, at, bytes, n);
	} else {
		if (at < s->block_at || at + n > s->block_at + s->block_len) {
			/* Stacks are read from their top, which was written last. */
			s->block_at = at > PTC_STORE_BLOCK / 2 ? at - PTC_STORE_BLOCK / 2 : 0;
			s->block_len = 0;
			got = read_store(s->fd, s->block_at, s->block, PTC_STORE_BLOCK);
			if (got < 0)
				return ptc_fail_sys(err, errno, "cannot read a %s", file_name);
			s->block_len = (size_t)got;
		}
		got = (ssize_t)n;
		if (at + n > s->block_at + s->block_len)
			got = 0;
		else
			memcpy(bytes, s->block + (at - s->block_at), n);
	}
	if (got < 0)
		return ptc_fail_sys(err, errno, "cannot read a %s", file_name);
	return (size_t)got == n ? 0 : ptc_fail(err, PTC_E_FORMAT, "a %s is too short", file_name);
}
