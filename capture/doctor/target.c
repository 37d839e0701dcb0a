/* SPDX-License-Identifier: MIT */
#include "capture/doctor/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "capture/host/mapped_file.h"
#include "capture/host/maps.h"
#include "capture/host/tasks.h"
#include "capture/perf/attr_fallback.h"

enum { TARGET_PATH = 64, STATUS_MAX = 1 << 16 };

static void proc_path(char *out, pid_t pid, const char *name)
{
	(void)snprintf(out, TARGET_PATH, "/proc/%d/%s", (int)pid, name);
}

static void read_target_status(struct ptc_target *t)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[TARGET_PATH];
	const char *uid;
	uint64_t n;

	proc_path(path, t->pid, "comm");
	if (!ptc_read_file(path, PTC_TARGET_COMM, &b, &ignored))
		(void)snprintf(t->comm, sizeof(t->comm), "%.*s",
			       (int)strcspn((const char *)b.bytes, "\n"), (const char *)b.bytes);
	proc_path(path, t->pid, "status");
	if (!ptc_read_file(path, STATUS_MAX, &b, &ignored)) {
		uid = strstr((const char *)b.bytes, "\nUid:");
		if (uid && sscanf(uid + 5, "%*u %u", &t->uid) != 1)
			t->uid = 0;
		if (ptc_fact_number((const char *)b.bytes, "TracerPid", 10, &n))
			t->tracer = (pid_t)n;
		t->kernel = !ptc_fact_number((const char *)b.bytes, "VmSize", 10, &n);
	}
	ptc_buf_release(&b);
}

/* --- mapped files --- */

static bool is_listed(const struct ptc_target *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->nfiles; i++)
		if (!strcmp(t->files[i].name, name))
			return true;
	return false;
}

/*
 * Is @name of memory, which the kernel names like a file? Names of memfd_create (mm/memfd.c),
 * shared anonymous memory (mm/shmem.c), System V shared memory (ipc/shm.c) and huge pages
 * (fs/hugetlbfs/inode.c). Private mappings of /dev/zero are memory, too.
 */
static bool names_memory(const char *name)
{
	static const char *const whole[] = { "/dev/zero", "/dev/zero (deleted)", "/anon_hugepage",
					     "/anon_hugepage (deleted)" };
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	return !strncmp(name, "/memfd:", 7) ||
	       (!strncmp(name, "/SYSV", 5) && strspn(name + 5, "0123456789abcdef") == 8);
}

/* Is the file of the mapping still the file of that name? */
static bool is_gone(const struct ptc_target *t, const struct ptc_map *m, const char *name)
{
	const struct ptc_inode inode = { .maj = m->maj, .min = m->min, .ino = m->ino };
	struct stat st;
	const int fd = ptc_samefile_open(name, t->pid, &inode, &st);

	if (fd < 0)
		return true;
	(void)close(fd);
	return false;
}

static int list_file(struct ptc_target *t, const struct ptc_map *m, const char *name,
		     struct ptc_err *err)
{
	struct ptc_doctor_file *more;

	if (!(m->prot & PROT_EXEC) || *name != '/' || is_listed(t, name))
		return 0;
	if (t->nfiles == PTC_TARGET_FILES_MAX) {
		t->more_files = true;
		return 0;
	}
	more = reallocarray(t->files, t->nfiles + 1, sizeof(*more));
	if (!more)
		return ptc_fail_mem(err);
	t->files = more;
	more[t->nfiles].name = strdup(name);
	if (!more[t->nfiles].name)
		return ptc_fail_mem(err);
	more[t->nfiles].in_memory = names_memory(name);
	more[t->nfiles].gone = !more[t->nfiles].in_memory && is_gone(t, m, name);
	t->nfiles++;
	return 0;
}

static int list_files(struct ptc_target *t, struct ptc_err *err)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_err why;
	int rc = 0;
	size_t i;

	if (ptc_maps_read(&maps, "/proc", t->pid, &why))
		t->maps = why.sys ? why.sys : EIO;
	for (i = 0; i < maps.n && !rc; i++)
		rc = list_file(t, &maps.items[i], ptc_map_name(&maps, &maps.items[i]), err);
	ptc_maps_release(&maps);
	return rc;
}

/* --- trials --- */

/*
 * Opening /proc/PID/mem makes the checks of a ptrace attach (fs/proc/base.c, PTRACE_MODE_ATTACH),
 * and has no effect on the process.
 */
static int try_attach(pid_t pid)
{
	char path[TARGET_PATH];
	int fd;

	proc_path(path, pid, "mem");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	(void)close(fd);
	return 0;
}

static int try_event(pid_t pid)
{
	const struct ptc_perf_where at = { .pid = pid, .cpu = -1, .flags = PERF_FLAG_FD_CLOEXEC };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd;

	attr.size = ptc_perf_attr_size(&attr);
	fd = ptc_opener_kernel.open(ptc_opener_kernel.ctx, &attr, &at);
	if (fd < 0)
		return -fd;
	(void)close(fd);
	return 0;
}

static bool has_other_root(pid_t pid)
{
	struct stat own, other;
	char path[TARGET_PATH];

	proc_path(path, pid, "root");
	return !stat("/", &own) && !stat(path, &other) &&
	       (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

int ptc_target_read(struct ptc_target *t, pid_t pid, struct ptc_err *err)
{
	struct ptc_tids tids = PTC_TIDS_INIT;
	int rc = ptc_tasks_threads(&tids, "/proc", pid, err);

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->threads = tids.n;
	ptc_tids_release(&tids);
	if (rc == PTC_E_NOT_EXIST)
		return ptc_fail(err, rc, "there is no process %d", (int)pid);
	if (rc)
		return rc;
	read_target_status(t);
	t->other_root = has_other_root(pid);
	t->attach = try_attach(pid);
	t->event = try_event(pid);
	return list_files(t, err);
}

void ptc_target_release(struct ptc_target *t)
{
	while (t->nfiles)
		free((char *)t->files[--t->nfiles].name);
	free(t->files);
	memset(t, 0, sizeof(*t));
}
