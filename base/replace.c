/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* --- folders that are recordings --- */

/* "data", "data.12", "header": files of a recording. */
static bool is_part(const char *name)
{
	return !strcmp(name, "header") || !strcmp(name, "data") || !strncmp(name, "data.", 5);
}

/* The kernel's code, "kcore_dir", and that of guests, "kcore_dir__PID". */
static bool is_kcore_dir(const char *name)
{
	return !strcmp(name, "kcore_dir") || !strncmp(name, "kcore_dir__", 11);
}

static bool is_kcore_file(const char *name)
{
	return !strcmp(name, "kcore") || !strcmp(name, "kallsyms") || !strcmp(name, "modules");
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static DIR *open_at(int folder, const char *name)
{
	const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

/* Is nothing else in there? @ret_part: there is a part of a recording. */
static bool holds_only(DIR *d, bool (*is)(const char *name), bool *ret_part)
{
	const struct dirent *e;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
	while ((e = readdir(d))) {
		if (is_dots(e->d_name))
			continue;
		if (is_part(e->d_name))
			*ret_part = true;
		if (!is(e->d_name))
			return false;
	}
	return true;
}

static bool in_recording(const char *name)
{
	return is_part(name) || is_kcore_dir(name);
}

static bool is_recording(const char *path)
{
	DIR *d = open_at(AT_FDCWD, path);
	bool part = false;
	const bool ok = d && holds_only(d, in_recording, &part) && part;

	if (d)
		(void)closedir(d);
	return ok;
}

/* What is a file there and may be, goes; the folder itself will not if anything is left. */
static void remove_files(DIR *d, bool (*is)(const char *name))
{
	const struct dirent *e;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
	while ((e = readdir(d)))
		if (is(e->d_name))
			(void)unlinkat(dirfd(d), e->d_name, 0);
}

static void remove_kcore_dirs(DIR *d)
{
	const struct dirent *e;
	DIR *sub;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
	while ((e = readdir(d))) {
		if (!is_kcore_dir(e->d_name))
			continue;
		sub = open_at(dirfd(d), e->d_name);
		if (!sub)
			continue;
		remove_files(sub, is_kcore_file);
		(void)closedir(sub);
		(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
}

int ptc_replace_remove(const char *path)
{
	DIR *d = open_at(AT_FDCWD, path);

	if (!d)
		return unlink(path);
	remove_files(d, is_part);
	rewinddir(d);
	remove_kcore_dirs(d);
	(void)closedir(d);
	return rmdir(path);
}

/* --- may it be replaced --- */

/* In a sticky folder (/tmp) what others own cannot be renamed: unlink(2), EPERM. */
static bool is_others(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	const uid_t we = geteuid();
	struct stat st, folder;
	char *parent;
	bool others;

	parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	others = we && parent && !stat(parent, &folder) && !lstat(name, &st) &&
		 folder.st_mode & S_ISVTX && st.st_uid != we && folder.st_uid != we;
	free(parent);
	return others;
}

static int check_one(const char *path, const char *name, struct ptc_err *err)
{
	struct stat st;

	if (is_others(path, name))
		return ptc_fail(err, PTC_E_PERM, "cannot write '%s': '%s' is somebody else's", path,
				name);
	if (lstat(name, &st) || S_ISREG(st.st_mode))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		/* A link is moved whatever it leads to, but /dev/stdout is not moved away. */
		if (stat(name, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
			return 0;
		return ptc_fail(err, PTC_E_USAGE,
				"cannot write '%s': '%s' leads to something that is not a regular "
				"file",
				path, name);
	}
	if (!S_ISDIR(st.st_mode))
		return ptc_fail(err, PTC_E_USAGE,
				"cannot write '%s': '%s' exists and is not a regular file", path,
				name);
	if (is_recording(name))
		return 0;
	return ptc_fail(err, PTC_E_USAGE,
			"cannot write '%s': '%s' is a folder, and no recording that could be "
			"replaced",
			path, name);
}

int ptc_replace_name(const char *path, char **ret, struct ptc_err *err)
{
	size_t len = strlen(path);
	const char *base;

	while (len && path[len - 1] == '/')
		len--;
	if (!len)
		return ptc_fail(err, PTC_E_USAGE, "cannot write '%s': the output has no name",
				path);
	base = memrchr(path, '/', len);
	base = base ? base + 1 : path;
	if (!strncmp(base, ".", (size_t)(path + len - base)) ||
	    !strncmp(base, "..", (size_t)(path + len - base)))
		return ptc_fail(err, PTC_E_USAGE, "cannot write '%s': it names a folder", path);
	*ret = strndup(path, len);
	return *ret ? 0 : ptc_fail_mem(err);
}

int ptc_replace_check(const char *path, struct ptc_err *err)
{
	char *old;
	int rc;

	if (asprintf(&old, "%s.old", path) < 0)
		return ptc_fail_mem(err);
	rc = check_one(path, path, err);
	if (!rc)
		rc = check_one(path, old, err);
	free(old);
	return rc;
}

/* --- doing it --- */

/* Where a folder is, or will be, rename(2) makes no room by itself. */
static int make_room(const char *from, const char *to)
{
	struct stat a, b;

	if (lstat(to, &b) || lstat(from, &a) || (!S_ISDIR(a.st_mode) && !S_ISDIR(b.st_mode)))
		return 0;
	if (S_ISDIR(b.st_mode) && !is_recording(to)) {
		errno = EISDIR;
		return -1;
	}
	return ptc_replace_remove(to);
}

static int to_old(const char *path, const char *old)
{
	return make_room(path, old) || rename(path, old) ? -1 : 0;
}

/* On a file system that cannot exchange names there is a moment without @path. */
static int one_by_one(const char *tmp, const char *path, const char *old)
{
	if (to_old(path, old) && errno != ENOENT)
		return -1;
	return rename(tmp, path);
}

int ptc_replace(const char *tmp, const char *path)
{
	char *old;
	int rc;

	if (asprintf(&old, "%s.old", path) < 0) {
		errno = ENOMEM;
		return -1;
	}
	rc = renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_EXCHANGE);
	if (!rc) {
		rc = to_old(tmp, old);
		if (rc) { /* what had the name gets it back */
			const int sys = errno;

			(void)renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_EXCHANGE);
			errno = sys;
		}
	} else if (errno == EINVAL || errno == ENOSYS) {
		rc = one_by_one(tmp, path, old);
	} else if (errno == ENOENT) { /* nothing to keep */
		rc = rename(tmp, path);
	}
	free(old);
	return rc;
}
