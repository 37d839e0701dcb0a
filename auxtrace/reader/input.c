/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "auxtrace/record/layout.h"
#include "base/err.h"
#include "base/open_input.h"
#include "base/untrusted.h"

enum { READ_SIZE = 1 << 16 };

static int cannot_open(const char *name, struct ptc_err *err)
{
	return ptc_fail_sys(err, errno, "cannot open '%s'", name);
}

static int no_file(const char *name, struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_UNSUPPORTED,
			"cannot read '%s': it is not a regular file or a pipe", name);
}

static int map_file(int fd, const struct stat *st, const char *name, struct ptc_input *ret,
		    struct ptc_err *err)
{
	void *map = NULL;

	if ((uint64_t)st->st_size > PTC_LIMIT_FILE)
		return ptc_fail(err, PTC_E_LIMIT, "cannot read '%s': it is larger than 2^%d bytes",
				name, PTC_OFF_PART_SHIFT);
	if (st->st_size) {
		map = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			return ptc_fail_sys(err, errno, "cannot map '%s'", name);
	}
	*ret = (struct ptc_input)PTC_INPUT_INIT;
	ret->bytes = map ? map : (const uint8_t *)"";
	ret->len = (size_t)st->st_size;
	ret->map = map;
	return 0;
}

/*
 * Return whether the first bytes of a stream show that it is neither a perf.data nor a bundle, so
 * reading can stop.
 */
static bool is_foreign(const uint8_t *bytes, size_t n)
{
	const size_t len = strlen(PTC_MAGIC_FILE2);

	return memcmp(bytes, PTC_MAGIC_FILE2, n < len ? n : len) != 0 && !ptc_bundle_is(bytes, n);
}

static int read_all(int fd, const char *name, struct ptc_input *in, uint8_t *bytes,
		    struct ptc_err *err)
{
	const size_t magic = strlen(PTC_MAGIC_FILE2);
	uint8_t head[8] = { 0 };

	for (;;) {
		const size_t had = in->spool.len < magic ? (size_t)in->spool.len : magic;
		ssize_t n = read(fd, bytes, READ_SIZE);
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ptc_fail_sys(err, errno, "cannot read '%s'", name);
		if (!n)
			return 0;
		rc = ptc_spool_put(&in->spool, bytes, (size_t)n, err);
		if (rc)
			return ptc_err_prefix(err, "cannot read '%s': ", name);
		if (in->spool.len > PTC_LIMIT_FILE)
			return ptc_fail(err, PTC_E_LIMIT,
					"cannot read '%s': it is larger than 2^%d bytes", name,
					PTC_OFF_PART_SHIFT);
		if (had == magic)
			continue;
		memcpy(head + had, bytes, (size_t)n < magic - had ? (size_t)n : magic - had);
		if (is_foreign(head, (size_t)in->spool.len))
			return 0;
	}
}

static int spool(int fd, const char *name, struct ptc_input *ret, struct ptc_err *err)
{
	struct ptc_input in = PTC_INPUT_INIT;
	uint8_t *bytes = malloc(READ_SIZE);
	int rc;

	if (!bytes)
		return ptc_fail_mem(err);
	rc = read_all(fd, name, &in, bytes, err);
	free(bytes);
	if (!rc)
		rc = ptc_spool_finish(&in.spool, &in.bytes, err);
	if (rc) {
		ptc_input_release(&in);
		return rc;
	}
	in.len = (size_t)in.spool.len;
	*ret = in;
	return 0;
}

int ptc_input_open(const char *path, struct ptc_input *ret, int *ret_folder, struct ptc_err *err)
{
	const int fd = ptc_open_input(path);
	struct stat st;
	int rc;

	*ret_folder = -1;
	if (fd < 0 && errno == ENODEV)
		return no_file(path, err);
	if (fd < 0)
		return cannot_open(path, err);
	if (fstat(fd, &st)) {
		rc = cannot_open(path, err);
	} else if (S_ISDIR(st.st_mode)) {
		*ret_folder = fd;
		return 0;
	} else if (S_ISREG(st.st_mode)) {
		rc = map_file(fd, &st, path, ret, err);
	} else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		rc = spool(fd, path, ret, err);
	} else {
		rc = no_file(path, err);
	}
	(void)close(fd);
	return rc;
}

int ptc_input_open_at(int folder, const char *entry, const char *name, struct ptc_input *ret,
		      struct ptc_err *err)
{
	const struct ptc_untrusted how = { .no_link = true };
	struct stat st, dir;
	const int fd = ptc_untrusted_open_at(folder, entry, name, &how, &st, err);
	int rc = 0;

	if (fd < 0)
		return fd;
	if (fstat(folder, &dir))
		rc = cannot_open(name, err);
	else if (st.st_uid && st.st_uid != dir.st_uid && st.st_uid != geteuid())
		rc = ptc_fail(err, PTC_E_PERM,
			      "cannot read '%s': it belongs to user %u, its folder to user %u",
			      name, st.st_uid, dir.st_uid);
	if (!rc)
		rc = map_file(fd, &st, name, ret, err);
	(void)close(fd);
	return rc;
}

void ptc_input_release(struct ptc_input *in)
{
	if (in->map)
		(void)munmap(in->map, in->len);
	ptc_spool_release(&in->spool);
	*in = (struct ptc_input)PTC_INPUT_INIT;
}
