/* SPDX-License-Identifier: MIT */
#include "capture/perf/event_owners.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/host/tasks.h"

enum { PATH_SIZE = 512, COMM_MAX = 64 };

static bool has_event(const char *proc, pid_t pid)
{
	char path[PATH_SIZE], link[64];
	const struct dirent *e;
	bool found = false;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/%d/fd", proc, (int)pid);
	d = opendir(path);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses this stream */
	while (d && !found && (e = readdir(d))) {
		const ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = !strcmp(link, "anon_inode:[perf_event]");
	}
	if (d)
		(void)closedir(d);
	return found;
}

static void append_owner_name(const char *proc, pid_t pid, char *out, size_t size)
{
	struct ptc_buf comm = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[PATH_SIZE], text[COMM_MAX];
	const size_t had = strlen(out);

	(void)snprintf(path, sizeof(path), "%s/%d/comm", proc, (int)pid);
	if (ptc_read_file(path, COMM_MAX, &comm, &ignored))
		ptc_buf_reset(&comm);
	(void)snprintf(text, sizeof(text), "%s%.*s %d", had ? ", " : "",
		       comm.len ? (int)strcspn((char *)comm.bytes, "\n") : 1,
		       comm.len ? (char *)comm.bytes : "?", (int)pid);
	if (had + strlen(text) < size)
		(void)snprintf(out + had, size - had, "%s", text);
	ptc_buf_release(&comm);
}

void ptc_holders_text(const char *proc, char *out, size_t size)
{
	struct ptc_tids all = PTC_TIDS_INIT;
	struct ptc_err ignored;
	size_t i;

	*out = '\0';
	if (!ptc_tasks_processes(&all, proc, &ignored))
		for (i = 0; i < all.n; i++)
			if (all.items[i] != getpid() && has_event(proc, all.items[i]))
				append_owner_name(proc, all.items[i], out, size);
	ptc_tids_release(&all);
}
