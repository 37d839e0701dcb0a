/* SPDX-License-Identifier: MIT */
#include "capture/perf/kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/perf/kallsyms.h"
#include "capture/perf/kcore_elf.h"

enum { PAGE = 4096, CHUNK = 256 * PAGE, TRIES = 5, PATH_SIZE = 4352 };

struct copy {
	char from[PATH_SIZE], to[PATH_SIZE]; /* paths of the two kcores, for messages */
	int in, out;			     /* -1: not open */
	struct ptc_kcore_load *loads;	     /* owned; segments of /proc/kcore */
	size_t nloads;
	struct ptc_kcore_load segs[PTC_KCORE_SEGS_MAX]; /* segments of the copy so far */
	size_t nsegs;
	uint64_t at;	/* offset in the copy of the next page */
	uint8_t *chunk; /* owned; CHUNK bytes */
};

/* --- /proc/kcore --- */

static int cannot_read(const char *path, int sys, struct ptc_err *err)
{
	if (sys == EACCES || sys == EPERM)
		return ptc_fail(err, PTC_E_PERM,
				"cannot read '%s': %s (it takes root with CAP_SYS_RAWIO, and no "
				"kernel lockdown: /sys/kernel/security/lockdown)",
				path, strerror(sys));
	if (sys == ENOENT)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"cannot read '%s': there is none (the kernel was built without "
				"CONFIG_PROC_KCORE, or this is a container)",
				path);
	return ptc_fail_sys(err, sys, "cannot read '%s'", path);
}

static int read_at(int fd, const char *path, void *bytes, size_t len, uint64_t off,
		   struct ptc_err *err)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t n =
			pread(fd, (uint8_t *)bytes + done, len - done, (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot_read(path, errno, err);
		if (!n)
			return ptc_fail(err, PTC_E_FORMAT,
					"cannot read '%s': it ends at 0x%" PRIx64
					" (a container shows an empty one)",
					path, off + done);
		done += (size_t)n;
	}
	return 0;
}

/* Reads the program headers. */
static int read_head(int fd, const char *path, struct ptc_kcore_load **ret, size_t *ret_n,
		     struct ptc_err *err)
{
	uint8_t first[PTC_KCORE_EHDR], *head;
	size_t len;
	int rc = read_at(fd, path, first, sizeof(first), 0, err);

	if (rc)
		return rc;
	rc = ptc_kcore_head_len(ptc_cur_init(first, sizeof(first)), &len, err);
	if (rc)
		return ptc_err_prefix(err, "cannot read '%s': ", path);
	head = malloc(len);
	if (!head)
		return ptc_fail_mem(err);
	rc = read_at(fd, path, head, len, 0, err);
	if (!rc && ptc_kcore_parse(ptc_cur_init(head, len), ret, ret_n, err))
		rc = ptc_err_prefix(err, "cannot read '%s': ", path);
	free(head);
	return rc;
}

static int open_kcore(const char *path, int *ret, struct ptc_err *err)
{
	*ret = open(path, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? cannot_read(path, errno, err) : 0;
}

/* --- pages --- */

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* Makes space for the page @addr at c->at: extends the last segment, or adds one. */
static int extend(struct copy *c, uint64_t addr, struct ptc_err *err)
{
	struct ptc_kcore_load *last = c->nsegs ? &c->segs[c->nsegs - 1] : NULL;

	if (last && last->addr + last->len == addr) {
		last->len += PAGE;
		return 0;
	}
	if (c->nsegs == PTC_KCORE_SEGS_MAX)
		return ptc_fail(err, PTC_E_LIMIT,
				"cannot copy '%s': the kernel's code is in more than %d pieces",
				c->from, PTC_KCORE_SEGS_MAX);
	c->segs[c->nsegs++] = (struct ptc_kcore_load){ addr, PAGE, c->at };
	return 0;
}

static int put_page(struct copy *c, uint64_t addr, const uint8_t *page, struct ptc_err *err)
{
	int rc = extend(c, addr, err);

	if (!rc)
		rc = ptc_pwrite_all(c->out, page, PAGE, c->at, c->to, err);
	c->at += PAGE;
	return rc;
}

/*
 * Copies [start, end), a part of @l. @on: also copies the pages after @end in @l, up to the first
 * page of zeros: the end of the last function there is unknown.
 */
static int copy_pages(struct copy *c, const struct ptc_kcore_load *l, uint64_t start, uint64_t end,
		      bool on, struct ptc_err *err)
{
	const uint64_t stop = on ? l->addr + (l->len & ~(uint64_t)(PAGE - 1)) : end;
	uint64_t addr = start;
	int rc;

	while (addr < stop) {
		const uint64_t left = stop - addr;
		const size_t n = left < CHUNK ? (size_t)left : (size_t)CHUNK;
		size_t i;

		rc = read_at(c->in, c->from, c->chunk, n, addr - l->addr + l->off, err);
		for (i = 0; !rc && i < n; i += PAGE) {
			if (!is_zero(c->chunk + i))
				rc = put_page(c, addr + i, c->chunk + i, err);
			else if (addr + i >= end)
				return 0;
		}
		if (rc)
			return rc;
		addr += n;
	}
	return 0;
}

/* Copies the whole pages of [start, end) that kcore has. */
static int copy_range(struct copy *c, uint64_t start, uint64_t end, bool on, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < c->nloads; i++) {
		const struct ptc_kcore_load *l = &c->loads[i];
		const uint64_t last = l->addr + (l->len & ~(uint64_t)(PAGE - 1));
		const uint64_t from = start > l->addr ? start : l->addr;
		const uint64_t to = end < last ? end : last;

		if (from < to)
			rc = copy_pages(c, l, from, to, on && to == end, err);
	}
	return rc;
}

/* --- the whole copy --- */

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static uint64_t first_of_extra(const struct ptc_kallsyms *k)
{
	uint64_t first = k->first_extra;
	size_t i;

	for (i = 0; i < k->nmods; i++)
		if (!first || k->mods[i].addr < first)
			first = k->mods[i].addr;
	return first;
}

static int copy_code(struct copy *c, const struct ptc_kallsyms *k, struct ptc_err *err)
{
	const uint64_t start = page_of(k->stext ? k->stext : k->first);
	const uint64_t end = k->etext ? page_of(k->etext + PAGE - 1) : page_of(k->last) + PAGE;
	int rc = copy_range(c, start, end, false, err);
	size_t i;

	if (!rc && !c->nsegs)
		return ptc_fail(err, PTC_E_FORMAT,
				"cannot read '%s': it does not have the kernel's text, 0x%" PRIx64,
				c->from, start);
	if (!rc && k->last_extra)
		rc = copy_range(c, page_of(first_of_extra(k)), page_of(k->last_extra) + PAGE, true,
				err);
	for (i = 0; !rc && i < k->ntramps; i++)
		rc = copy_range(c, page_of(k->tramps[i]), page_of(k->tramps[i]) + PAGE, false, err);
	return rc;
}

static int write_head(struct copy *c, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_kcore_put(&b, c->segs, c->nsegs);
	rc = ptc_buf_failed(&b) ? ptc_fail_mem(err) :
				  ptc_pwrite_all(c->out, b.bytes, b.len, 0, c->to, err);
	ptc_buf_release(&b);
	return rc;
}

static int create(const char *path, int *ret, struct ptc_err *err)
{
	(void)unlink(path); /* from an earlier try */
	*ret = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
	return *ret < 0 ? ptc_fail_sys(err, errno, "cannot create '%s'", path) : 0;
}

static int finish(int fd, const char *path, struct ptc_err *err)
{
	return close(fd) && errno != EINTR ? ptc_fail_sys(err, errno, "cannot write '%s'", path) :
					     0;
}

static void copy_free(struct copy *c)
{
	if (c->in >= 0)
		(void)close(c->in);
	if (c->out >= 0)
		(void)close(c->out);
	free(c->loads);
	free(c->chunk);
	free(c);
}

static int copy_kcore(const char *dir, const char *root, const struct ptc_kallsyms *k,
		      uint64_t *ret_bytes, struct ptc_err *err)
{
	struct copy *c = calloc(1, sizeof(*c));
	int rc, fd;

	if (!c)
		return ptc_fail_mem(err);
	c->in = c->out = -1;
	c->at = PTC_KCORE_ROOM;
	(void)snprintf(c->from, sizeof(c->from), "%s/proc/kcore", root);
	(void)snprintf(c->to, sizeof(c->to), "%s/kcore", dir);
	c->chunk = malloc(CHUNK);
	rc = c->chunk ? open_kcore(c->from, &c->in, err) : ptc_fail_mem(err);
	if (!rc)
		rc = read_head(c->in, c->from, &c->loads, &c->nloads, err);
	if (!rc)
		rc = create(c->to, &c->out, err);
	if (!rc)
		rc = copy_code(c, k, err);
	if (!rc)
		rc = write_head(c, err);
	if (!rc) {
		*ret_bytes = c->at - PTC_KCORE_ROOM;
		fd = c->out;
		c->out = -1;
		rc = finish(fd, c->to, err);
	}
	copy_free(c);
	return rc;
}

static int write_text(const char *dir, const char *name, const struct ptc_buf *b,
		      struct ptc_err *err)
{
	char path[PATH_SIZE];
	int fd, rc;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = create(path, &fd, err);
	if (rc)
		return rc;
	rc = ptc_write_all(fd, b->bytes, b->len, path, err);
	if (rc) {
		(void)close(fd);
		return rc;
	}
	return finish(fd, path, err);
}

static bool same(const struct ptc_buf *a, const struct ptc_buf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

/* Returns 1 if the copy is consistent, 0 if code came or went in the meantime. */
static int try_once(const char *dir, const struct ptc_kcore_opts *o, uint64_t *ret_bytes,
		    struct ptc_err *err)
{
	struct ptc_kallsyms before, after = PTC_KALLSYMS_INIT;
	int rc = ptc_kallsyms_read(&before, o->root, err);

	if (rc)
		return rc;
	rc = copy_kcore(dir, o->root, &before, ret_bytes, err);
	if (!rc && o->copied)
		o->copied(o->ctx);
	if (!rc)
		rc = ptc_kallsyms_read(&after, o->root, err);
	if (!rc && same(&before.kallsyms, &after.kallsyms)) {
		rc = write_text(dir, "kallsyms", &before.kallsyms, err);
		if (!rc)
			rc = write_text(dir, "modules", &before.modules, err);
		if (!rc)
			rc = 1;
	}
	ptc_kallsyms_release(&before);
	ptc_kallsyms_release(&after);
	return rc;
}

int ptc_kcore_copy(const char *dir, const struct ptc_kcore_opts *opts, uint64_t *ret_bytes,
		   struct ptc_err *err)
{
	int rc = 0, i;

	if (mkdir(dir, 0700))
		return ptc_fail_sys(err, errno, "cannot create '%s'", dir);
	for (i = 0; !rc && i < TRIES; i++)
		rc = try_once(dir, opts, ret_bytes, err);
	if (!rc)
		return ptc_fail(err, PTC_E_BUSY,
				"cannot copy '%s/proc/kcore': modules or BPF programs came or went "
				"each of %d times; try again",
				opts->root, TRIES);
	return rc < 0 ? rc : 0;
}
