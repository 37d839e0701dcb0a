/* SPDX-License-Identifier: MIT */
#include "base/untrusted.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"

enum {
	DEPTH_MAX = 256, /* folders below the root, in a manual walk */
	LINKS_MAX = 40,	 /* MAXSYMLINKS of the kernel */
	TRIES = 3,
};

/* openat2(2), missing in headers before Linux 5.6. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RESOLVE_IN_ROOT
#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_IN_ROOT	      0x10
#endif

struct how_to_open {
	uint64_t flags, mode, resolve;
};

#define PATH_FLAGS (O_PATH | O_CLOEXEC)
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* --- resolving a name below a root manually --- */

/* State of a walk: the open folders from below the root down to the current one. */
struct walk {
	int root;
	int folders[DEPTH_MAX];
	size_t n;
	int links;
	char *rest; /* owned; the unresolved part of the name */
	int found;  /* the last part of the name, if it is not a folder; -1: none */
};

static int top(const struct walk *w)
{
	return w->n ? w->folders[w->n - 1] : w->root;
}

static void up(struct walk *w)
{
	if (w->n)
		(void)close(w->folders[--w->n]);
}

/* Put the target of the link @fd before @behind, the rest of the name. */
static int follow_symlink(struct walk *w, int fd, const char *behind)
{
	char target[PATH_MAX], *rest;
	const ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return errno;
	if (n == sizeof(target) - 1)
		return ENAMETOOLONG;
	if (w->links++ == LINKS_MAX)
		return ELOOP;
	target[n] = '\0';
	if (asprintf(&rest, "%s%s", target, behind) < 0)
		return ENOMEM;
	free(w->rest);
	w->rest = rest;
	while (*target == '/' && w->n)
		up(w);
	return *target ? 0 : ENOENT;
}

/* Resolve one part of the name, @len bytes at @part. *@ret_next: the next part, in w->rest. */
static int resolve_name_part(struct walk *w, const char *part, size_t len, bool no_link,
			     const char **ret_next)
{
	const char *behind = part + len;
	char name[NAME_MAX + 1];
	struct stat st;
	int fd, sys;

	if (len > NAME_MAX)
		return ENAMETOOLONG;
	memcpy(name, part, len);
	name[len] = '\0';
	*ret_next = behind;
	if (!strcmp(name, "..")) {
		up(w);
		return 0;
	}
	fd = openat(top(w), name, PATH_FLAGS | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st)) {
		sys = errno;
	} else if (S_ISLNK(st.st_mode) && (*behind || !no_link)) {
		sys = follow_symlink(w, fd, behind);
		*ret_next = w->rest;
	} else if (S_ISDIR(st.st_mode)) {
		sys = w->n == DEPTH_MAX ? ENAMETOOLONG : 0;
		if (!sys) {
			w->folders[w->n++] = fd;
			return 0;
		}
	} else {
		sys = *behind ? ENOTDIR : 0;
		if (!sys) {
			w->found = fd;
			return 0;
		}
	}
	(void)close(fd);
	return sys;
}

static int walk_all(struct walk *w, bool no_link)
{
	const char *p = w->rest;
	int sys = 0;

	while (!sys) {
		size_t len;

		p += strspn(p, "/");
		len = strcspn(p, "/");
		if (!len)
			return 0;
		if (len == 1 && *p == '.')
			p++;
		else
			sys = resolve_name_part(w, p, len, no_link, &p);
	}
	return sys;
}

/* Resolve @name below @root without openat2. Returns an O_PATH descriptor, or -1 and errno. */
static int resolve_below_root(int root, const char *name, bool no_link)
{
	struct walk w = { .root = root, .rest = strdup(name), .found = -1 };
	int sys = w.rest ? walk_all(&w, no_link) : ENOMEM;
	int fd = -1;

	if (!sys) {
		fd = fcntl(w.found >= 0 ? w.found : top(&w), F_DUPFD_CLOEXEC, 0);
		sys = errno;
	}
	if (w.found >= 0)
		(void)close(w.found);
	while (w.n)
		up(&w);
	free(w.rest);
	errno = sys;
	return fd;
}

/* --- resolving a name to an O_PATH descriptor --- */

static int resolve_once(int root, const char *name, int flags)
{
	const struct how_to_open how = { .flags = (uint64_t)(unsigned int)flags,
					 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
}

/* Resolve @name below @root, or anywhere if @root is AT_FDCWD. */
static int resolve(int root, const char *name, const struct ptc_untrusted *how)
{
	const int flags = PATH_FLAGS | (how->no_link ? O_NOFOLLOW : 0);
	int fd = -1, tries;

	if (root == AT_FDCWD)
		return openat(root, name, flags);
	for (tries = 0; tries < TRIES && fd < 0 && !how->by_hand; tries++) {
		fd = resolve_once(root, name, flags);
		/*
		 * EAGAIN: folders were renamed meanwhile. ENOSYS, EPERM: an old kernel or
		 * container.
		 */
		if (fd < 0 && errno != EAGAIN && errno != ENOSYS && errno != EPERM)
			return -1;
	}
	return fd >= 0 ? fd : resolve_below_root(root, name, how->no_link);
}

/* --- the kind of a file --- */

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device";
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "of an unknown type";
	}
}

/*
 * Return whether the kernel generates the files of this file system when they are read. Their sizes
 * are then meaningless, and reading can have side effects.
 */
static bool is_made_by_kernel(int fd)
{
	static const unsigned long types[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	      DEBUGFS_MAGIC,	   TRACEFS_MAGIC,
		SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
		PSTOREFS_MAGIC,	  EFIVARFS_MAGIC,     SELINUX_MAGIC,	   BINFMTFS_MAGIC,
		0x62656570 /* configfs */
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((unsigned long)fs.f_type == types[i])
			return true;
	return false;
}

static int check(int fd, const char *path, const struct ptc_untrusted *how, struct stat *ret,
		 struct ptc_err *err)
{
	if (fstat(fd, ret))
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	if (!S_ISREG(ret->st_mode))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot open '%s': it is %s, not a regular file", path,
				kind_of(ret->st_mode));
	if (!how->kernel && is_made_by_kernel(fd))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot open '%s': the kernel generates its content, so it is not "
				"a regular file",
				path);
	if (how->max && (uint64_t)ret->st_size > how->max)
		return ptc_fail(err, PTC_E_LIMIT, "'%s' is larger than %llu bytes", path,
				(unsigned long long)how->max);
	return 0;
}

/* --- opening --- */

/*
 * Open by name again, if there is no /proc. Returns the file only if it is the same, and never
 * blocks.
 */
static int open_again(int root, const char *name, const struct ptc_untrusted *how,
		      const struct stat *st)
{
	const int flags = READ_FLAGS | (how->no_link ? O_NOFOLLOW : 0);
	struct stat now;
	const int fd = root == AT_FDCWD ? openat(root, name, flags) :
					  resolve_once(root, name, flags);

	if (fd < 0 || (!fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino))
		return fd;
	(void)close(fd);
	errno = ESTALE;
	return -1;
}

static int open_below(int root, const char *name, const char *path, const struct ptc_untrusted *how,
		      struct stat *ret_st, struct ptc_err *err)
{
	const int found = resolve(root, name, how);
	char link[64];
	int fd, rc;

	if (found < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	rc = check(found, path, how, ret_st, err);
	if (rc) {
		(void)close(found);
		return rc;
	}
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	fd = open(link, READ_FLAGS);
	if (fd < 0 && errno == ENOENT)
		fd = open_again(root, name, how, ret_st);
	if (fd < 0)
		rc = ptc_fail_sys(err, errno, "cannot open '%s'", path);
	(void)close(found);
	return fd < 0 ? rc : fd;
}

int ptc_untrusted_open_at(int folder, const char *entry, const char *path,
			  const struct ptc_untrusted *how, struct stat *ret_st, struct ptc_err *err)
{
	return open_below(folder, entry, path, how, ret_st, err);
}

int ptc_untrusted_open(const char *path, const struct ptc_untrusted *how, struct stat *ret_st,
		       struct ptc_err *err)
{
	char *name;
	int root, ret;

	assert(how->root <= strlen(path));
	if (!how->root)
		return open_below(AT_FDCWD, path, path, how, ret_st, err);
	name = strndup(path, how->root);
	if (!name)
		return ptc_fail_mem(err);
	root = open(name, PATH_FLAGS | O_DIRECTORY);
	free(name);
	if (root < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	ret = open_below(root, path + how->root, path, how, ret_st, err);
	(void)close(root);
	return ret;
}

int ptc_untrusted_read(const char *path, const struct ptc_untrusted *how, struct ptc_buf *out,
		       struct stat *ret_st, struct ptc_err *err)
{
	int fd, rc;

	assert(how->max);
	ptc_buf_reset(out);
	fd = ptc_untrusted_open(path, how, ret_st, err);
	if (fd < 0)
		return fd;
	rc = ptc_read_fd(fd, path, (size_t)how->max, out, err);
	(void)close(fd);
	return rc;
}

int ptc_untrusted_owner(const struct stat *st, uid_t user, const char *path, const char *way_out,
			struct ptc_err *err)
{
	if (!st->st_uid || st->st_uid == user)
		return 0;
	if (!user)
		return ptc_fail(err, PTC_E_PERM, "'%s' belongs to user %u, not to root%s", path,
				st->st_uid, way_out);
	return ptc_fail(err, PTC_E_PERM, "'%s' belongs to user %u, not to user %u or root%s", path,
			st->st_uid, user, way_out);
}
