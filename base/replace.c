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
#include "base/temp_name.h"

/* --- folders that are recordings --- */

/* Return whether @name is a file of a recording: "data", "data.12", "header". */
static bool is_part(const char *name)
{
	return !strcmp(name, "header") || !strcmp(name, "data") || !strncmp(name, "data.", 5);
}

/*
 * Return whether @name is a folder for kernel code, "kcore_dir", or for that of a guest,
 * "kcore_dir__PID".
 */
static bool is_kcore_dir(const char *name)
{
	return !strcmp(name, "kcore_dir") || !strncmp(name, "kcore_dir__", 11);
}

static bool is_kcore_file(const char *name)
{
	return !strcmp(name, "kcore") || !strcmp(name, "kallsyms") || !strcmp(name, "modules");
}

static bool ends_with(const char *name, const char *end)
{
	const size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* Return whether @name is the map that ptcap writes for uftrace. Folders of uftrace have others. */
static bool is_session_map(const char *name)
{
	return !strcmp(name, "sid-" PTC_UFTRACE_SESSION ".map");
}

/* Return whether @name is a file for the records of a thread, "17.dat". */
static bool is_thread_records(const char *name)
{
	const size_t digits = strspn(name, "0123456789");

	return digits && !strcmp(name + digits, ".dat");
}

/* Return whether @name is a file of uftrace's folder as ptcap writes it. */
static bool is_uftrace_part(const char *name)
{
	return !strcmp(name, "info") || !strcmp(name, "task.txt") || !strcmp(name, "events.txt") ||
	       is_session_map(name) || is_thread_records(name) || ends_with(name, ".sym");
}

static bool is_uftrace_data(const char *name)
{
	return is_uftrace_part(name) && !is_session_map(name);
}

/* Return whether @name is a table as `ptcap decode --format arrow` writes it. */
static bool is_arrow_table(const char *name)
{
	return !strcmp(name, "branches.arrow") || !strcmp(name, "calls.arrow") ||
	       !strcmp(name, "gaps.arrow") || !strcmp(name, "crashes.arrow");
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

/*
 * Return whether the folder contains only names accepted by @is. *ret_key: one of the names is
 * accepted by @is_key.
 */
static bool holds_only(DIR *d, bool (*is)(const char *name), bool (*is_key)(const char *name),
		       bool *ret_key)
{
	const struct dirent *e;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses the stream */
	while ((e = readdir(d))) {
		if (is_dots(e->d_name))
			continue;
		if (is_key(e->d_name))
			*ret_key = true;
		if (!is(e->d_name))
			return false;
	}
	return true;
}

static bool in_recording(const char *name)
{
	return is_part(name) || is_kcore_dir(name);
}

/* Return whether @path is a recording, or a folder of uftrace or of tables that ptcap wrote. */
static bool is_recording(const char *path)
{
	DIR *d = open_at(AT_FDCWD, path);
	bool part = false, map = false, table = false, ok;

	if (!d)
		return false;
	ok = holds_only(d, in_recording, is_part, &part) && part;
	rewinddir(d);
	ok = ok || (holds_only(d, is_uftrace_part, is_session_map, &map) && map);
	rewinddir(d);
	ok = ok || (holds_only(d, is_arrow_table, is_arrow_table, &table) && table);
	(void)closedir(d);
	return ok;
}

static bool is_none(const char *name)
{
	(void)name;
	return false;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_empty_folder(const char *path)
{
	DIR *d = open_at(AT_FDCWD, path);
	bool key = false;
	const bool empty = d && holds_only(d, is_none, is_none, &key);

	if (d)
		(void)closedir(d);
	return empty;
}

/* An interrupted removal may leave the folder empty. */
static bool is_recording_or_empty(const char *path)
{
	return is_empty_folder(path) || is_recording(path);
}

/* Remove the files accepted by @is. Removing the folder later fails if other files remain. */
static void remove_files(DIR *d, bool (*is)(const char *name))
{
	const struct dirent *e;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses the stream */
	while ((e = readdir(d)))
		if (is(e->d_name))
			(void)unlinkat(dirfd(d), e->d_name, 0);
}

static void remove_kcore_dirs(DIR *d)
{
	const struct dirent *e;
	DIR *sub;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses the stream */
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
	/*
	 * The kcore folders are removed first. If this process is killed in between, the folder is
	 * still a recording, and the next run can remove it.
	 */
	remove_kcore_dirs(d);
	rewinddir(d);
	remove_files(d, is_part);
	/* For the same reason, the map of the session is the last file of uftrace's folder. */
	rewinddir(d);
	remove_files(d, is_uftrace_data);
	rewinddir(d);
	remove_files(d, is_session_map);
	rewinddir(d);
	remove_files(d, is_arrow_table);
	(void)closedir(d);
	return rmdir(path);
}

/* --- checks before replacing --- */

/*
 * Return whether @name cannot be renamed because another user owns it in a sticky folder (/tmp):
 * unlink(2), EPERM.
 */
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

static int check_one(const char *path, const char *name, bool takes_empty, struct ptc_err *err)
{
	struct stat st;

	if (is_others(path, name))
		return ptc_fail(err, PTC_E_PERM, "cannot write '%s': '%s' belongs to another user",
				path, name);
	if (lstat(name, &st) || S_ISREG(st.st_mode))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		/* A link to a file or folder is renamed itself, but /dev/stdout must stay. */
		if (stat(name, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
			return 0;
		return ptc_fail(err, PTC_E_USAGE,
				"cannot write '%s': the target of the link '%s' is not a regular "
				"file",
				path, name);
	}
	if (!S_ISDIR(st.st_mode))
		return ptc_fail(err, PTC_E_USAGE,
				"cannot write '%s': '%s' exists and is not a regular file", path,
				name);
	if (is_recording(name) || (takes_empty && is_empty_folder(name)))
		return 0;
	return ptc_fail(err, PTC_E_USAGE, "cannot write '%s': '%s' is a folder without a recording",
			path, name);
}

int ptc_replace_name(const char *path, char **ret, struct ptc_err *err)
{
	size_t len = strlen(path);
	const char *base;
	bool is_dots;

	if (!len)
		return ptc_fail(err, PTC_E_USAGE, "the name of the output is empty");
	while (len > 1 && path[len - 1] == '/')
		len--;
	base = memrchr(path, '/', len);
	base = base ? base + 1 : path;
	is_dots = *base == '.' && strspn(base, ".") <= 2 && base + strspn(base, ".") == path + len;
	if (is_dots)
		return ptc_fail(err, PTC_E_USAGE, "cannot write '%s': it is a folder", path);
	*ret = strndup(path, len);
	return *ret ? 0 : ptc_fail_mem(err);
}

static int check_both(const char *path, bool takes_empty, struct ptc_err *err)
{
	char *old;
	int rc;

	if (asprintf(&old, "%s.old", path) < 0)
		return ptc_fail_mem(err);
	rc = check_one(path, path, takes_empty, err);
	if (!rc)
		rc = check_one(path, old, true, err);
	free(old);
	return rc;
}

int ptc_replace_check(const char *path, struct ptc_err *err)
{
	return check_both(path, false, err);
}

int ptc_replace_check_folder(const char *path, struct ptc_err *err)
{
	return check_both(path, true, err);
}

/* --- replacing --- */

/* Remove @old to make its name free. */
static int make_room(const char *old)
{
	struct stat st;

	if (lstat(old, &st))
		return errno == ENOENT ? 0 : -1;
	if (S_ISDIR(st.st_mode) && !is_recording_or_empty(old)) {
		errno = EISDIR;
		return -1;
	}
	return ptc_replace_remove(old);
}

static bool cannot_exchange(void)
{
	return errno == EINVAL || errno == ENOSYS;
}

/* Exchange the new recording, at @old, with the old recording, at @path, in one call. */
static int exchange(const char *old, const char *path)
{
	if (!renameat2(AT_FDCWD, old, AT_FDCWD, path, RENAME_EXCHANGE))
		return 0;
	return errno == ENOENT ? rename(old, path) : -1; /* ENOENT: another process removed @path */
}

/*
 * Fallback for file systems that cannot exchange names. A file has two names for a moment. For a
 * folder, or without hard links, @path does not exist for a moment.
 */
static int one_by_one(const char *tmp, const char *path, const char *old)
{
	struct stat st;
	int sys;

	if (!lstat(tmp, &st) && !S_ISDIR(st.st_mode) && !link(path, old)) {
		if (!rename(tmp, path))
			return 0;
		sys = errno;
		(void)unlink(old);
	} else {
		if (rename(path, old) && errno != ENOENT)
			return -1;
		if (!rename(tmp, path))
			return 0;
		sys = errno;
		(void)rename(old, path);
	}
	errno = sys;
	return -1;
}

/* Replace an existing @path, and keep it as @old. */
static int keep_old(const char *tmp, const char *path, const char *old)
{
	int sys;

	if (make_room(old) || rename(tmp, old))
		return -1;
	if (!exchange(old, path))
		return 0;
	sys = errno;
	if (rename(old, tmp))
		return -1;
	errno = sys;
	return cannot_exchange() ? one_by_one(tmp, path, old) : -1;
}

static int keep_old_nameless(int fd, const char *path, const char *old)
{
	char *tmp = NULL;
	int rc, sys;

	if (make_room(old) || ptc_hidden_give_name(fd, old))
		return -1;
	if (!exchange(old, path))
		return 0;
	/*
	 * Keep the file's last name until it has another one: a file without a name might not get
	 * one.
	 */
	rc = cannot_exchange() ? ptc_hidden_link(fd, path, &tmp) : -1;
	sys = errno;
	(void)unlink(old);
	if (!rc) {
		rc = one_by_one(tmp, path, old);
		sys = errno;
		if (rc)
			(void)unlink(tmp);
		free(tmp);
	}
	errno = sys;
	return rc;
}

/* Rename @tmp if @path does not exist. Otherwise returns -1 with EEXIST. */
static int take_free_name(const char *tmp, const char *path)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (!cannot_exchange())
		return -1;
	if (lstat(path, &st))
		return errno == ENOENT ? rename(tmp, path) : -1;
	errno = EEXIST;
	return -1;
}

static char *old_of(const char *path)
{
	char *old;

	if (asprintf(&old, "%s.old", path) >= 0)
		return old;
	errno = ENOMEM;
	return NULL;
}

/* @tmp: name of the new recording. NULL: the new recording is the nameless file @fd. */
static int replace(const char *tmp, int fd, const char *path)
{
	int rc = tmp ? take_free_name(tmp, path) : ptc_hidden_give_name(fd, path);
	char *old;

	if (!rc || errno != EEXIST)
		return rc;
	if (tmp && is_folder(tmp) && is_empty_folder(path))
		return rename(tmp, path);
	old = old_of(path);
	if (!old)
		return -1;
	rc = tmp ? keep_old(tmp, path, old) : keep_old_nameless(fd, path, old);
	free(old);
	return rc;
}

int ptc_replace(const char *tmp, const char *path)
{
	return replace(tmp, -1, path);
}

int ptc_replace_nameless(int fd, const char *path)
{
	return replace(NULL, fd, path);
}
