/* SPDX-License-Identifier: MIT */
#include "capture/host/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"

enum { STATUS_MAX = 1 << 16, CHILDREN_MAX = 1 << 20, MOUNTS_MAX = 16 << 20, PATH_SIZE = 512 };

void ptc_tids_release(struct ptc_tids *t)
{
	free(t->items);
	*t = (struct ptc_tids)PTC_TIDS_INIT;
}

bool ptc_tids_have(const struct ptc_tids *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->items[i] == tid)
			return true;
	return false;
}

bool ptc_tids_add(struct ptc_tids *t, pid_t tid)
{
	if (ptc_tids_have(t, tid))
		return true;
	if (!ptc_vec_reserve((void **)&t->items, &t->cap, t->n + 1, sizeof(*t->items)))
		return false;
	t->items[t->n++] = tid;
	return true;
}

/* Adds every entry of @path that is a number. */
static int numbers(struct ptc_tids *t, const char *path, struct ptc_err *err)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	while (!rc && (e = readdir(d))) {
		char *end;
		const long v = strtol(e->d_name, &end, 10);

		if (*end || v <= 0 || v > INT32_MAX)
			continue;
		if (!ptc_tids_add(t, (pid_t)v))
			rc = ptc_fail_mem(err);
	}
	(void)closedir(d);
	return rc;
}

int ptc_tasks_threads(struct ptc_tids *t, const char *proc, pid_t pid, struct ptc_err *err)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s/%d/task", proc, (int)pid);
	return numbers(t, path, err);
}

int ptc_tasks_processes(struct ptc_tids *t, const char *proc, struct ptc_err *err)
{
	return numbers(t, proc, err);
}

/* Adds the children of thread @tid of process @pid. */
static int add_children(struct ptc_tids *t, const char *proc, pid_t pid, pid_t tid, size_t max,
			struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[PATH_SIZE];
	const char *p;
	char *end;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/%d/task/%d/children", proc, (int)pid, (int)tid);
	if (!ptc_read_file(path, CHILDREN_MAX, &b, &ignored)) {
		for (p = (const char *)b.bytes; !rc && t->n < max; p = end) {
			const long child = strtol(p, &end, 10);

			if (end == p)
				break;
			if (child > 0 && child <= INT32_MAX && !ptc_tids_add(t, (pid_t)child))
				rc = ptc_fail_mem(err);
		}
	}
	ptc_buf_release(&b);
	return rc;
}

int ptc_tasks_family(struct ptc_tids *t, const char *proc, pid_t pid, size_t max,
		     struct ptc_err *err)
{
	size_t at = t->n, i;
	int rc = 0;

	if (!ptc_tids_add(t, pid))
		return ptc_fail_mem(err);
	for (; !rc && at < t->n && t->n < max; at++) {
		struct ptc_tids threads = PTC_TIDS_INIT;
		struct ptc_err gone;

		(void)ptc_tasks_threads(&threads, proc, t->items[at], &gone);
		for (i = 0; !rc && i < threads.n; i++)
			rc = add_children(t, proc, t->items[at], threads.items[i], max, err);
		ptc_tids_release(&threads);
	}
	return rc;
}

char ptc_tasks_state(const char *proc, pid_t tid)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[PATH_SIZE], letter = 0;
	const char *p;

	(void)snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)tid);
	if (!ptc_read_file(path, STATUS_MAX, &b, &ignored)) {
		p = strrchr((const char *)b.bytes, ')'); /* behind the name */
		letter = (char)(p && p[1] == ' ' ? p[2] : 0);
	}
	ptc_buf_release(&b);
	return letter;
}

pid_t ptc_tasks_process(const char *proc, pid_t tid)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[PATH_SIZE];
	const char *line;
	long pid = 0;

	(void)snprintf(path, sizeof(path), "%s/%d/status", proc, (int)tid);
	if (!ptc_read_file(path, STATUS_MAX, &b, &ignored)) {
		line = strstr((const char *)b.bytes, "\nTgid:");
		if (line)
			pid = strtol(line + strlen("\nTgid:"), NULL, 10);
	}
	ptc_buf_release(&b);
	return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/*
 * Returns the next word of /proc/mounts. Blanks in names are octal escapes there; mounts of cgroups
 * have none.
 */
static const char *word(const char *p, size_t *ret_len)
{
	p += strspn(p, " ");
	*ret_len = strcspn(p, " \n");
	return p;
}

/* Returns true if this line of mounts is the hierarchy that perf_event uses. */
static bool is_hierarchy(const char *type, size_t len, const char *options, size_t options_len)
{
	const char *found;

	if (len == strlen("cgroup2") && !strncmp(type, "cgroup2", len))
		return true;
	found = strstr(options, "perf_event");
	return len == strlen("cgroup") && !strncmp(type, "cgroup", len) && found &&
	       found < options + options_len;
}

int ptc_tasks_cgroup(const char *proc, const char *name, char **ret, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char path[PATH_SIZE];
	const char *line, *where = NULL;
	size_t len[4], where_len = 0, i;
	int rc;

	if (!*name || strstr(name, ".."))
		return ptc_fail(err, PTC_E_USAGE, "invalid name of a cgroup '%s'", name);
	(void)snprintf(path, sizeof(path), "%s/self/mounts", proc);
	rc = ptc_read_file(path, MOUNTS_MAX, &b, err);
	for (line = (const char *)b.bytes; !rc && line && *line; line += strcspn(line, "\n") + 1) {
		const char *w[4] = { line };

		for (i = 0; i < 4; i++)
			w[i] = word(i ? w[i - 1] + len[i - 1] : line, &len[i]);
		if (!is_hierarchy(w[2], len[2], w[3], len[3]))
			continue;
		where = w[1];
		where_len = len[1];
		/* Where both versions are mounted, version 1 has the controller. */
		if (len[2] == strlen("cgroup"))
			break;
	}
	if (!rc && !where)
		rc = ptc_fail(err, PTC_E_NOT_EXIST,
			      "no cgroup hierarchy with perf_event is mounted ('%s')", path);
	else if (!rc && asprintf(ret, "%.*s/%s", (int)where_len, where, name) < 0)
		rc = ptc_fail_mem(err);
	ptc_buf_release(&b);
	return rc;
}
