/* SPDX-License-Identifier: MIT */
#include "capture/step/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"

enum { CODE_MAX = 1 << 20 }; /* bytes of one mapping without a file; a vdso has two pages */

/* Keep the bytes of an executable mapping that is no file: "[vdso]". */
static int save_code(struct ptc_tracer *t, const struct ptc_task *k, const struct ptc_map *map,
		     struct ptc_err *err)
{
	struct ptc_saved_code *s;
	const size_t len = map->end - map->start;

	if (len > CODE_MAX)
		return 0;
	if (!ptc_vec_reserve((void **)&t->saved, &t->saved_cap, t->nsaved + 1, sizeof(*t->saved)))
		return ptc_fail_mem(err);
	s = &t->saved[t->nsaved];
	s->bytes = malloc(len);
	if (!s->bytes)
		return ptc_fail_mem(err);
	s->time = ptc_clock_ns(t->rec->clock);
	s->addr = map->start;
	s->pid = k->pid;
	s->len = ptc_code_read(k->tid, map->start, s->bytes, len);
	t->nsaved++;
	return 0;
}

int ptc_program_update_maps(struct ptc_tracer *t, struct ptc_task *k, bool all, struct ptc_err *err)
{
	struct ptc_maps old;
	size_t i;
	int rc = ptc_maps_read(&k->mm->maps_new, "/proc", k->tid, err);

	if (rc == PTC_E_NOT_EXIST || (rc == PTC_E_IO && err->sys == ESRCH))
		return 0; /* it was killed meanwhile; the next stop says so */
	for (i = 0; !rc && i < k->mm->maps_new.n; i++) {
		const struct ptc_map *map = &k->mm->maps_new.items[i];
		const char *name = ptc_map_name(&k->mm->maps_new, map);

		if (!(map->prot & PROT_EXEC) || !strcmp(name, "[vsyscall]"))
			continue;
		if (!all && ptc_maps_has(&k->mm->maps, &k->mm->maps_new, map))
			continue;
		ptc_records_mmap(t->rec, &k->mm->maps_new, map);
		if (!strcmp(name, "[vdso]"))
			rc = save_code(t, k, map, err);
	}
	old = k->mm->maps;
	k->mm->maps = k->mm->maps_new;
	k->mm->maps_new = old;
	ptc_code_flush(&k->mm->code);
	ptc_zone_resolve(&t->zone, k->mm);
	return rc;
}

static int read_comm(pid_t pid, struct ptc_buf *out, struct ptc_err *err)
{
	char path[64];
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	rc = ptc_read_file(path, 4096, out, err);
	if (!rc && out->len && out->bytes[out->len - 1] == '\n')
		out->bytes[out->len - 1] = '\0';
	return rc;
}

int ptc_program_begin(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct ptc_buf comm = PTC_BUF_INIT;
	int rc = read_comm(k->tid, &comm, err);

	if (!rc) {
		ptc_records_comm(t->rec, (const char *)comm.bytes, true);
		rc = ptc_program_update_maps(t, k, true, err);
	}
	ptc_buf_release(&comm);
	return rc;
}

int ptc_program_renamed(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct ptc_buf comm = PTC_BUF_INIT;
	int rc = read_comm(k->tid, &comm, err);

	if (!rc)
		ptc_records_comm(t->rec, (const char *)comm.bytes, false);
	ptc_buf_release(&comm);
	return rc;
}

int ptc_program_forked(struct ptc_task *k, struct ptc_err *err)
{
	int rc = ptc_maps_read(&k->mm->maps, "/proc", k->tid, err);

	/* gone already: the next stop says so */
	return rc == PTC_E_NOT_EXIST || (rc == PTC_E_IO && err->sys == ESRCH) ? 0 : rc;
}
