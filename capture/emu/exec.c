/* SPDX-License-Identifier: MIT */
/*
 * Emulates each program that the guest executes: executes QEMU with that program and this plugin.
 * Otherwise QEMU would let the kernel execute the program, and it would not be recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/emu/hidden_environ.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/plugin.h"
#include "capture/emu/program.h"

enum { PAGE = 4096, ARGS_MAX = 1 << 20 };

/*
 * Copies the guest's string at @guest to @out of PATH_MAX bytes. Returns false if it is unreadable
 * or too long.
 */
static bool read_path(uint64_t guest, char *out)
{
	size_t n = 0, part;

	while (n < PATH_MAX) {
		part = PAGE - (guest + n) % PAGE;
		part = part < PATH_MAX - n ? part : PATH_MAX - n;
		if (ptc_emu_read_guest(guest + n, out + n, part) != part)
			return false;
		if (memchr(out + n, 0, part))
			return true;
		n += part;
	}
	return false;
}

/*
 * Converts the guest's NULL-terminated list at @guest to host addresses. Caller frees the list.
 * NULL: out of memory, or an invalid pointer.
 */
static char **strings(uint64_t guest)
{
	uint64_t at = 0;
	size_t n = 0, cap = 0;
	char **ret = NULL, **more, first;

	do {
		if (guest &&
		    ptc_emu_read_guest(guest + n * sizeof(at), &at, sizeof(at)) != sizeof(at))
			break;
		if (n == cap) {
			cap = 2 * cap + 64;
			more = realloc(ret, cap * sizeof(*ret));
			if (!more)
				break;
			ret = more;
		}
		ret[n++] = at ? ptc_emu_host(at) : NULL;
		if (!at)
			return ret;
	} while (n < ARGS_MAX && ptc_emu_read_guest(at, &first, 1));
	free(ret);
	return NULL;
}

/*
 * Appends @name to @out, which has @n of @size bytes; a comma is written twice. Returns the new
 * length; SIZE_MAX: @out is too small.
 */
static size_t put_name(char *out, size_t size, size_t n, const char *name)
{
	for (; *name; name++) {
		if (n + 128 > size)
			return SIZE_MAX;
		out[n++] = *name;
		if (*name == ',')
			out[n++] = ',';
	}
	out[n] = '\0';
	return n;
}

/*
 * Writes "FILE,shm=...". @path is executed, and QEMU loads @loaded. @fd leads to the recording's
 * memory, unless it is -1. Returns false if @out is too small.
 */
static bool plugin_option(char *out, size_t size, const char *path, const char *loaded, int fd)
{
	const char *base = strrchr(path, '/');
	size_t n = put_name(out, size, 0, ptc_emu_proc.plugin);
	size_t i;

	if (n == SIZE_MAX)
		return false;
	base = base ? base + 1 : path;
	n += (size_t)snprintf(out + n, size - n,
			      ",shm=%d,fd=%d,how=exec,comm=", ptc_emu_proc.shm_id, fd);
	for (i = 0; i < 15 && base[i]; i++)
		n += (size_t)snprintf(out + n, size - n, "%02x", (unsigned char)base[i]);
	n += (size_t)snprintf(out + n, size - n, ",path=");
	return put_name(out, size, n, loaded) < SIZE_MAX;
}

/* Returns true if @a and @b are the same file. */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * Writes the name of the file that @path means to the guest into @out of PATH_MAX bytes. For the
 * guest /proc/self/exe is its program, but here it is QEMU. A descriptor's name may vanish with the
 * descriptor at the exec: the name of its file is used instead. Returns false if the file has no
 * name.
 */
static bool find_file(const char *path, char *out)
{
	const bool of_proc = !strncmp(path, "/proc/", 6);
	const size_t len = strlen(path);

	if (len >= PATH_MAX)
		return false;
	memcpy(out, path, len + 1);
	if (of_proc && same_file(path, "/proc/self/exe")) {
		memcpy(out, ptc_emu_proc.exe, strlen(ptc_emu_proc.exe) + 1);
		return *out;
	}
	if (!of_proc && strncmp(path, "/dev/fd/", 8) != 0)
		return true;
	return realpath(path, out) && same_file(path, out);
}

/*
 * Writes the path that execveat(2) uses into @out of PATH_MAX bytes. Returns false if there is none
 * or it is too long.
 */
static bool path_at(int dirfd, const char *path, uint64_t flags, char *out)
{
	struct stat st;
	int n;

	if (*path == '/' || (*path && dirfd == AT_FDCWD))
		n = snprintf(out, PATH_MAX, "%s", path);
	else if (*path)
		n = snprintf(out, PATH_MAX, "/proc/self/fd/%d/%s", dirfd, path);
	else if (flags & AT_EMPTY_PATH)
		n = snprintf(out, PATH_MAX, "/dev/fd/%d", dirfd);
	else
		return false;
	if (flags & AT_SYMLINK_NOFOLLOW && *path && (lstat(out, &st) || S_ISLNK(st.st_mode)))
		return false;
	return n > 0 && n < PATH_MAX;
}

/*
 * Returns true if @path exists in this process's root directory. Missing permissions do not matter.
 */
static bool is_here(const char *path)
{
	return *path && (!access(path, F_OK) || errno != ENOENT);
}

/*
 * Executes the program under QEMU. Returns the reason if it cannot be emulated: then QEMU passes it
 * to the kernel.
 */
static enum ptc_emu_unfollowed exec_under_qemu(const char *path, uint64_t args, uint64_t env)
{
	enum ptc_emu_unfollowed why = PTC_EMU_UNFOLLOWED_OTHER;
	struct ptc_emu_program p = { NULL, NULL, NULL };
	char qemu[PATH_MAX], file[PATH_MAX], option[4 * PTC_EMU_PATH];
	char **argv = strings(args), **envp = strings(env), **hidden = NULL, **line = NULL;
	const ssize_t n = readlink("/proc/self/exe", qemu, sizeof(qemu) - 1);
	enum ptc_emu_verdict v = PTC_EMU_FAILS;
	int fd = -1;

	if (argv && envp && n > 0 && find_file(path, file))
		v = ptc_emu_program_find(file, argv, &p);
	qemu[n > 0 ? n : 0] = '\0';
	if (v == PTC_EMU_FOREIGN)
		why = PTC_EMU_UNFOLLOWED_FOREIGN;
	else if (!is_here(qemu) || !is_here(ptc_emu_proc.plugin))
		why = PTC_EMU_UNFOLLOWED_ROOT;
	else if (v == PTC_EMU_RUNS && !ptc_emu_is_in_reach(&fd))
		why = PTC_EMU_UNFOLLOWED_USER;
	else if (v == PTC_EMU_RUNS && plugin_option(option, sizeof(option), path, p.path, fd)) {
		line = ptc_emu_program_line(&p, qemu, option);
		hidden = ptc_emu_environ_hide(envp, ptc_emu_proc.sh->turns_env);
		if (ptc_emu_program_has_rights(&p))
			ptc_emu_lack_note(ptc_emu_proc.sh, PTC_EMU_RIGHTS);
		if (line && hidden && execve(qemu, line, hidden) && errno == EACCES)
			why = PTC_EMU_UNFOLLOWED_USER;
	}
	ptc_emu_end_turn();
	if (fd >= 0)
		(void)close(fd);
	free(line);
	free(hidden);
	ptc_emu_program_release(&p);
	free(argv);
	free(envp);
	return why;
}

/* Counts a program that is not recorded, and keeps the path of the first one. */
static void count_unrecorded_exec(struct ptc_emu_me *m, enum ptc_emu_unfollowed why,
				  const char *path)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;

	m->unfollowed = true;
	if (!atomic_fetch_add(&sh->unfollowed, 1)) {
		(void)snprintf(sh->unfollowed_path, sizeof(sh->unfollowed_path), "%s", path);
		atomic_store(&sh->unfollowed_why, why);
	}
}

void ptc_emu_exec(struct ptc_emu_me *m)
{
	const uint64_t *a = m->args;
	const bool at = m->call == SYS_execveat;
	const uint64_t where = a[at], args = a[at + 1], env = a[at + 2];
	char path[PATH_MAX], name[PATH_MAX];

	m->unfollowed = false;
	if (atomic_load(&ptc_emu_proc.sh->stop) || !where || !read_path(where, name))
		return;
	if (!path_at(at ? (int)a[0] : AT_FDCWD, name, at ? a[4] : 0, path))
		return;
	count_unrecorded_exec(m, exec_under_qemu(path, args, env), path);
}

void ptc_emu_exec_failed(struct ptc_emu_me *m)
{
	if (m->unfollowed)
		(void)atomic_fetch_sub(&ptc_emu_proc.sh->unfollowed, 1);
	m->unfollowed = false;
}
