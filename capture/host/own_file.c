/* SPDX-License-Identifier: MIT */
#include "capture/host/own_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

void ptc_own_module_find(struct ptc_own_module *ret)
{
	static const char here;
	struct link_map *map = NULL;
	const char *path = "/proc/self/exe";
	Dl_info info;

	/* l_name: "" for the executable. A relative name depends on an earlier current folder. */
	ret->is_library = dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
			  map->l_name[0];
	if (ret->is_library)
		path = map->l_name[0] == '/' ? map->l_name : "";
	if (!realpath(path, ret->path))
		ret->path[0] = '\0';
}

/*
 * Returns @name as an absolute path. *ret_shared: the length of the part that also contains the
 * module. Caller frees. NULL: no memory.
 */
static char *absolute(const struct ptc_own_module *m, const char *name, size_t *ret_shared)
{
	const char *slash = strrchr(m->path, '/');
	size_t len = slash ? (size_t)(slash - m->path) : 0;
	char *path;

	if (*name == '/') {
		*ret_shared = 0;
		return strdup(name);
	}
	for (; !strncmp(name, "../", 3); name += 3)
		while (len && m->path[--len] != '/')
			;
	*ret_shared = len;
	return asprintf(&path, "%.*s/%s", (int)len, m->path, name) < 0 ? NULL : path;
}

/* Users and groups that can replace the module. */
struct module_owners {
	uid_t user;
	bool by_group[2]; /* the group may write to: the file, its folder */
	gid_t group[2];
};

/* With a sticky bit, each user replaces only own files in a folder. */
static bool is_writable(const struct stat *st, mode_t who)
{
	return (st->st_mode & who) && !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX));
}

static struct module_owners find_owners(const struct ptc_own_module *m)
{
	const char *slash = strrchr(m->path, '/');
	struct module_owners ret = { .user = 0 };
	char folder[PATH_MAX];
	struct stat st[2];
	size_t i;

	(void)snprintf(folder, sizeof(folder), "%.*s/", slash ? (int)(slash - m->path) : 0,
		       m->path);
	for (i = 0; i < 2; i++) {
		if (stat(i ? folder : m->path, &st[i]))
			continue;
		ret.by_group[i] = is_writable(&st[i], S_IWGRP);
		ret.group[i] = st[i].st_gid;
		if (!i)
			ret.user = st[i].st_uid;
	}
	return ret;
}

/* May members of the group of @st change the file, but not the module? */
static bool is_open_to_group(const struct stat *st, const struct module_owners *of)
{
	size_t i;

	if (!is_writable(st, S_IWGRP) || !st->st_gid)
		return false;
	for (i = 0; i < 2; i++)
		if (of->by_group[i] && of->group[i] == st->st_gid)
			return false;
	return !st->st_uid || st->st_uid != geteuid();
}

/* May a stranger change the file or folder @path? */
static bool is_open_to_strangers(const char *path, const struct module_owners *of)
{
	struct stat st;

	if (lstat(path, &st) || S_ISLNK(st.st_mode))
		return true;
	if (st.st_uid && st.st_uid != geteuid() && st.st_uid != of->user)
		return true;
	return is_writable(&st, S_IWOTH) || is_open_to_group(&st, of);
}

/* Checks each folder of @path behind its first @shared bytes, and the file. */
static int refuse_strangers(char *path, size_t shared, const struct module_owners *of,
			    struct ptc_err *err)
{
	size_t len = shared;
	bool open;
	char c;

	do {
		len += 1 + strcspn(path + len + 1, "/");
		c = path[len];
		path[len] = '\0';
		open = is_open_to_strangers(path, of);
		if (open)
			(void)ptc_fail(err, PTC_E_PERM,
				       "other users can change '%s', or it is a symbolic link",
				       path);
		path[len] = c;
	} while (c && !open);
	return open ? PTC_E_PERM : 0;
}

int ptc_own_file_find(const struct ptc_own_module *m, const char *name, int mode, char **ret,
		      struct ptc_err *err)
{
	struct module_owners of;
	size_t shared;
	char *path;
	int rc;

	if (*name != '/' && !m->path[0])
		return ptc_fail(err, PTC_E_NOT_EXIST, "the folder of ptcap is unknown");
	path = absolute(m, name, &shared);
	if (!path)
		return ptc_fail_mem(err);
	of = find_owners(m);
	if (access(path, mode))
		rc = ptc_fail(err, PTC_E_NOT_EXIST, "cannot find '%s'", path);
	else
		rc = refuse_strangers(path, shared, &of, err);
	if (rc)
		free(path);
	else
		*ret = path;
	return rc;
}
