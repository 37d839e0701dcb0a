/* SPDX-License-Identifier: MIT */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/err.h"
#include "base/io.h"

static const char name[] = "temporary file";

/* Returns -1 with errno on failure. */
static int open_in(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (snprintf(path, sizeof(path), "%s/ptcap.XXXXXX", folder) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	else if (errno == EPERM || errno == EACCES) /* a sandbox that forbids creating files */
		fd = memfd_create("ptcap-spool", MFD_CLOEXEC);
	return fd;
}

int ptc_nameless_file(int *ret_fd, bool *ret_is_memory, struct ptc_err *err)
{
	const char *folders[] = { secure_getenv("TMPDIR"), "/var/tmp", "/tmp" };
	size_t i = folders[0] && *folders[0] ? 0 : 1;
	int fd;

	/* If TMPDIR is set, no other folder is tried. */
	do {
		fd = open_in(folders[i]);
	} while (fd < 0 && i && ++i < sizeof(folders) / sizeof(folders[0]));
	if (fd < 0)
		return ptc_fail_sys(err, errno, "cannot create a temporary file in '%s'",
				    folders[i ? i - 1 : 0]);
	*ret_fd = fd;
	*ret_is_memory = fcntl(fd, F_GET_SEALS) >= 0; /* only memory files support seals */
	return 0;
}

static int write_file(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err)
{
	if (s->is_memory) {
		if (!ptc_budget_allows(n))
			return ptc_fail_mem(err);
		ptc_budget_hold(n);
		s->held += n;
	}
	return ptc_write_all(s->fd, bytes, n, name, err);
}

static int write_out(struct ptc_spool *s, struct ptc_err *err)
{
	int rc = s->fd < 0 ? ptc_nameless_file(&s->fd, &s->is_memory, err) : 0;

	if (!rc)
		rc = write_file(s, s->mem.bytes, s->mem.len, err);
	ptc_buf_reset(&s->mem);
	return rc;
}

int ptc_spool_put(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err)
{
	int rc = n > PTC_SPOOL_MEMORY - s->mem.len ? write_out(s, err) : 0;

	if (!rc && n > PTC_SPOOL_MEMORY) {
		rc = write_file(s, bytes, n, err);
	} else if (!rc) {
		ptc_buf_put(&s->mem, bytes, n);
		if (ptc_buf_failed(&s->mem))
			rc = ptc_fail_mem(err);
	}
	if (!rc)
		s->len += n;
	return rc;
}

int ptc_spool_finish(struct ptc_spool *s, const uint8_t **ret, struct ptc_err *err)
{
	void *p;
	int rc;

	if (s->fd < 0) {
		/* Shrink to the exact size, so that tools detect reads beyond the end. */
		p = s->mem.len ? realloc(s->mem.bytes, s->mem.len) : NULL;
		if (p) {
			s->mem.bytes = p;
			s->mem.cap = s->mem.len;
		}
		*ret = s->mem.len ? s->mem.bytes : (const uint8_t *)"";
		return 0;
	}
	rc = write_out(s, err);
	if (rc)
		return rc;
	p = mmap(NULL, (size_t)s->len, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return ptc_fail_sys(err, errno, "cannot map a %s", name);
	ptc_buf_release(&s->mem);
	s->map = p;
	*ret = p;
	(void)close(s->fd);
	s->fd = -1;
	return 0;
}

int ptc_spool_file(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err)
{
	int rc = ptc_nameless_file(&s->fd, &s->is_memory, err);

	if (!rc)
		rc = write_file(s, bytes, n, err);
	if (!rc)
		s->len = n;
	return rc;
}

void ptc_spool_release(struct ptc_spool *s)
{
	if (s->map)
		(void)munmap(s->map, (size_t)s->len);
	if (s->fd >= 0)
		(void)close(s->fd);
	ptc_buf_release(&s->mem);
	ptc_budget_drop(s->held);
	*s = (struct ptc_spool)PTC_SPOOL_INIT;
}
