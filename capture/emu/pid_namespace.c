/* SPDX-License-Identifier: MIT */
#include "capture/emu/pid_namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t namespace_at(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

uint64_t ptc_emu_pids_namespace(void)
{
	return namespace_at("/proc/self/ns/pid");
}

/*
 * Returns the last number of the line "NSpid:" in the status file @path: the number in the
 * innermost namespace.
 */
static pid_t inner_number(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096], *p;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "\nNSpid:");
	if (!p)
		return 0;
	p[1 + strcspn(p + 1, "\n")] = '\0';
	p = strrchr(p, '\t');
	return p ? (pid_t)strtol(p, NULL, 10) : 0;
}

/*
 * Returns the numeric entry of folder @path whose innermost number is @inner. @ns: the required
 * namespace; 0: any.
 */
static pid_t find_in(const char *path, uint64_t ns, pid_t inner)
{
	DIR *folder = opendir(path);
	struct dirent *e;
	pid_t ret = 0;
	char file[PATH_MAX];

	while (folder && !ret && (e = readdir(folder)) != NULL) {
		const long number = strtol(e->d_name, NULL, 10);

		if (number <= 0)
			continue;
		(void)snprintf(file, sizeof(file), "%s/%ld/ns/pid", path, number);
		if (ns && namespace_at(file) != ns)
			continue;
		(void)snprintf(file, sizeof(file), "%s/%ld/status", path, number);
		if (inner_number(file) == inner)
			ret = (pid_t)number;
	}
	if (folder)
		(void)closedir(folder);
	return ret;
}

pid_t ptc_emu_pids_find(uint64_t ns, pid_t pid)
{
	return find_in("/proc", ns, pid);
}

pid_t ptc_emu_pids_find_thread(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return find_in(path, 0, tid);
}
