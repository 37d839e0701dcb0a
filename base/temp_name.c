/* SPDX-License-Identifier: MIT */
#include "base/temp_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"

#define PREFIX ".ptcap-tmp-"

enum { LETTERS = 6, TRIES = 100 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";

/* --- names --- */

/* Returns the length of the folder part of @path, including the slash. */
static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns a new name in the folder of @path. On failure NULL, with errno. */
static char *name_beside(const char *path)
{
	char text[LETTERS + 1] = "";
	uint8_t random[LETTERS];
	char *name;
	int i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return NULL;
	for (i = 0; i < LETTERS; i++)
		text[i] = letters[random[i] % (sizeof(letters) - 1)];
	if (asprintf(&name, "%.*s" PREFIX "%s", folder_len(path), path, text) >= 0)
		return name;
	errno = ENOMEM;
	return NULL;
}

static bool is_hidden(const char *name)
{
	const size_t len = strlen(PREFIX);

	return !strncmp(name, PREFIX, len) && strlen(name + len) == LETTERS &&
	       strspn(name + len, letters) == LETTERS;
}

/* --- making --- */

static bool is_at(int fd, int folder, const char *name)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstatat(folder, name, &b, AT_SYMLINK_NOFOLLOW) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Lock a new file. Between its creation and its lock, its name looks like one of a killed process,
 * and another process may remove it. The caller then takes another name (EEXIST). On file systems
 * without locks, no left-over names are removed.
 */
static int locked(int fd, const char *name)
{
	if (fd < 0)
		return -1;
	if ((flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || !is_at(fd, AT_FDCWD, name)) {
		(void)close(fd);
		errno = EEXIST;
		return -1;
	}
	return fd;
}

static int try_file(const char *name, int unused)
{
	(void)unused;
	return locked(open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600), name);
}

static int try_folder(const char *name, int unused)
{
	int fd;

	(void)unused;
	if (mkdir(name, 0700))
		return -1;
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* another process has already removed it: see locked() */
		errno = EEXIST;
	return locked(fd, name);
}

/* Try random names until one is free. */
static int try_random_names(int (*try)(const char *name, int fd), int fd, const char *path,
			    char **ret)
{
	int i, got, sys;

	for (i = 0; i < TRIES; i++) {
		char *name = name_beside(path);

		if (!name)
			return -1;
		got = try(name, fd);
		if (got >= 0) {
			*ret = name;
			return got;
		}
		sys = errno;
		free(name);
		errno = sys;
		if (sys != EEXIST)
			return -1;
	}
	return -1;
}

int ptc_hidden_file(const char *path, char **ret)
{
	return try_random_names(try_file, -1, path, ret);
}

int ptc_hidden_folder(const char *path, char **ret)
{
	return try_random_names(try_folder, -1, path, ret);
}

int ptc_hidden_give_name(int fd, const char *name)
{
	char from[64];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int try_link(const char *name, int fd)
{
	return ptc_hidden_give_name(fd, name);
}

int ptc_hidden_link(int fd, const char *path, char **ret)
{
	(void)flock(fd, LOCK_EX | LOCK_NB);
	return try_random_names(try_link, fd, path, ret);
}

/* --- removing left-over names of killed processes --- */

static void sweep(const char *folder, bool inside);

/*
 * Remove a name if its lock can be taken, because its owner is then dead. The open flags ensure
 * that opening neither blocks nor has side effects.
 */
static void remove_left(int folder, const char *folder_name, const char *name, bool inside)
{
	char *path = NULL;
	struct stat st;
	int fd;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid() ||
	    (!S_ISREG(st.st_mode) && (inside || !S_ISDIR(st.st_mode))))
		return;
	fd = openat(folder, name,
		    (S_ISDIR(st.st_mode) ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_NOFOLLOW |
			    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) || !is_at(fd, folder, name)) {
		(void)close(fd);
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		(void)unlinkat(folder, name, 0);
	} else if (asprintf(&path, "%s/%s", folder_name, name) >= 0) {
		sweep(path, true);
		(void)ptc_replace_remove(path);
		free(path);
	}
	(void)close(fd);
}

static void sweep(const char *folder, bool inside)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	if (!d)
		return;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses the stream */
	while ((e = readdir(d)))
		if (is_hidden(e->d_name))
			remove_left(dirfd(d), folder, e->d_name, inside);
	(void)closedir(d);
}

void ptc_hidden_sweep(const char *path)
{
	const int len = folder_len(path);
	char *folder;

	if (asprintf(&folder, "%.*s", len ? len : 1, len ? path : ".") < 0)
		return;
	sweep(folder, false);
	free(folder);
}
