/* SPDX-License-Identifier: MIT */
#include "capture/perf/synthesize.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "base/io.h"
#include "capture/host/maps.h"
#include "capture/host/tasks.h"

enum { PATH_SIZE = 4352, COMM_MAX = 4096, VDSO_MAX = 1 << 16, POKE_MAX = 2048 };

struct job {
	const struct ptc_running *r;
	struct ptc_buf *out;
	pid_t pid;
};

static void put_process_record(const struct job *j, struct ptc_sb *sb, pid_t tid)
{
	sb->id.pid = j->pid;
	sb->id.tid = tid;
	sb->id.id = j->r->id;
	ptc_sb_put(j->out, sb, j->r->sample_type);
}

/* Reads the name of a thread. Returns false if the thread is gone. */
static bool read_comm(const struct job *j, pid_t tid, struct ptc_buf *text)
{
	struct ptc_err ignored;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s/%d/task/%d/comm", j->r->proc, (int)j->pid, (int)tid);
	if (ptc_read_file(path, COMM_MAX, text, &ignored))
		return false;
	text->bytes[strcspn((const char *)text->bytes, "\n")] = '\0';
	return true;
}

static bool put_thread(const struct job *j, pid_t tid)
{
	struct ptc_sb comm = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER };
	struct ptc_sb fork = { .type = PERF_RECORD_FORK };
	struct ptc_buf text = PTC_BUF_INIT;

	if (!read_comm(j, tid, &text)) {
		ptc_buf_release(&text);
		return false;
	}
	if (tid != j->pid) {
		fork.u.task.pid = fork.u.task.ppid = j->pid;
		fork.u.task.tid = tid;
		fork.u.task.ptid = j->pid;
		put_process_record(j, &fork, tid);
	}
	comm.u.comm.pid = j->pid;
	comm.u.comm.tid = tid;
	comm.u.comm.comm = (const char *)text.bytes;
	put_process_record(j, &comm, tid);
	ptc_buf_release(&text);
	return true;
}

/* Reads the build-id of the file that the process sees under this name. */
static void find_build_id(const struct job *j, const char *name, struct ptc_build_id *ret)
{
	struct ptc_err ignored;
	char path[PATH_SIZE];
	int root;

	memset(ret, 0, sizeof(*ret));
	if (!j->r->build_ids || name[0] != '/' || name[1] == '/')
		return;
	root = snprintf(path, sizeof(path), "%s/%d/root", j->r->proc, (int)j->pid);
	if (root < 0 || (size_t)root + strlen(name) >= sizeof(path))
		return;
	memcpy(path + root, name, strlen(name) + 1);
	if (ptc_elf_build_id_file(path, (size_t)root, ret, &ignored) != 1)
		memset(ret, 0, sizeof(*ret));
}

static void put_mapping(const struct job *j, const struct ptc_maps *maps, const struct ptc_map *m)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER };
	const char *name = ptc_map_name(maps, m);

	sb.u.mmap.pid = sb.u.mmap.tid = j->pid;
	sb.u.mmap.addr = m->start;
	sb.u.mmap.len = m->end - m->start;
	sb.u.mmap.pgoff = m->off;
	sb.u.mmap.maj = m->maj;
	sb.u.mmap.min = m->min;
	sb.u.mmap.ino = m->ino;
	sb.u.mmap.prot = m->prot;
	sb.u.mmap.flags = m->flags;
	sb.u.mmap.filename = *name ? name : "//anon"; /* same name as perf_event_mmap_event uses */
	find_build_id(j, name, &sb.u.mmap.build_id);
	put_process_record(j, &sb, j->pid);
}

/* Records the vdso's bytes: the kernel at decode time may have another vdso. */
static void put_vdso(const struct job *j, const struct ptc_map *m)
{
	const size_t len = (size_t)(m->end - m->start);
	uint8_t *bytes = len <= VDSO_MAX ? malloc(len) : NULL;
	char path[PATH_SIZE];
	size_t at;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%d/mem", j->r->proc, (int)j->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && bytes && pread(fd, bytes, len, (off_t)m->start) == (ssize_t)len) {
		for (at = 0; at < len; at += POKE_MAX) {
			struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
					     .misc = PERF_RECORD_MISC_USER };

			sb.u.poke.addr = m->start + at;
			sb.u.poke.new_bytes =
				ptc_cur_init(bytes + at, len - at < POKE_MAX ? len - at : POKE_MAX);
			put_process_record(j, &sb, j->pid);
		}
	}
	if (fd >= 0)
		(void)close(fd);
	free(bytes);
}

static void put_mappings(const struct job *j)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_err ignored;
	size_t i;

	if (!ptc_maps_read(&maps, j->r->proc, j->pid, &ignored)) { /* a kernel thread has none */
		for (i = 0; i < maps.n; i++) {
			const struct ptc_map *m = &maps.items[i];
			const char *name = ptc_map_name(&maps, m);

			if (!(m->prot & PROT_EXEC) || !strcmp(name, "[vsyscall]"))
				continue;
			put_mapping(j, &maps, m);
			if (j->r->vdso && !strcmp(name, "[vdso]"))
				put_vdso(j, m);
		}
	}
	ptc_maps_release(&maps);
}

int ptc_running_put(struct ptc_buf *b, const struct ptc_running *r, pid_t pid, struct ptc_err *err)
{
	const struct job j = { r, b, pid };
	struct ptc_tids tids = PTC_TIDS_INIT;
	struct ptc_err gone;
	int rc = ptc_tasks_threads(&tids, r->proc, pid, &gone);
	size_t i;

	if (!rc)
		/* first: the forks of the other threads name it as parent */
		(void)put_thread(&j, pid);
	for (i = 0; !rc && i < tids.n; i++)
		if (tids.items[i] != pid)
			(void)put_thread(&j, tids.items[i]);
	if (!rc)
		put_mappings(&j);
	ptc_tids_release(&tids);
	if (ptc_buf_failed(b))
		return ptc_fail_mem(err);
	return rc ? 0 : 1;
}
