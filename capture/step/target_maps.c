/* SPDX-License-Identifier: MIT */
#include "capture/step/target_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/step/setid.h"

/* A task with its tracer, for callbacks. */
struct at {
	struct ptc_tracer *t;
	struct ptc_task *k;
	struct ptc_saved_range vdso; /* range of the vdso if it was just recorded */
};

/* --- code --- */

static size_t read_memory(void *ctx, uint64_t addr, uint8_t *out, size_t len)
{
	const struct at *at = ctx;

	return ptc_code_read(at->k->tid, addr, out, len);
}

static bool read_file(void *ctx, uint64_t addr, uint8_t out[PTC_SAVED_PAGE])
{
	const struct at *at = ctx;
	const struct ptc_maps *maps = &at->k->mm->maps;
	const struct ptc_map *map = ptc_maps_find(maps, addr);

	return map && ptc_mapped_read(&at->t->files, maps, map, at->k->tid,
				      map->off + (addr - map->start), out, PTC_SAVED_PAGE);
}

/*
 * Writes a TEXT_POKE. A decoder patches the code when its time passes the record's. So the trace
 * must be off: earlier instructions ran with the old bytes.
 */
static void save(void *ctx, uint64_t addr, const uint8_t *bytes, size_t len)
{
	const struct at *at = ctx;

	ptc_stop_preempt(at->t, at->k);
	ptc_tracer_speak_of(at->t, at->k);
	ptc_records_poke(at->t->rec, addr, bytes, len);
}

static struct ptc_saved_io io_of(struct at *at)
{
	return (struct ptc_saved_io){
		.read = read_memory, .read_file = read_file, .save = save, .ctx = at
	};
}

int ptc_program_fetch(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct at at = { .t = t, .k = k };
	const struct ptc_saved_io io = io_of(&at);
	struct ptc_mm *mm = k->mm;
	const struct ptc_insn *insn = ptc_code_fetch(&mm->code, &mm->maps, k->tid, k->ip, &io);

	if (!insn)
		return ptc_fail_mem(err);
	k->insn = *insn;
	/* The trap may come only after the next instruction, which must be recorded too. */
	if ((k->insn.shadow || k->insn.exits) &&
	    !ptc_code_fetch(&mm->code, &mm->maps, k->tid, k->ip + k->insn.len, &io))
		return ptc_fail_mem(err);
	return 0;
}

/* --- mappings --- */

static void record_new_mapping(void *ctx, const struct ptc_map *part)
{
	struct at *at = ctx;
	const struct ptc_maps *maps = &at->k->mm->maps;

	ptc_records_mmap(at->t->rec, maps, part,
			 ptc_mapped_note(&at->t->files, maps, part, at->k->tid));
	if (!strcmp(ptc_map_name(maps, part), "[vdso]"))
		at->vdso = (struct ptc_saved_range){ part->start, part->end };
}

/* Saves the whole vdso at once, so that a reader has its symbols. */
static bool save_vdso(struct at *at)
{
	const struct ptc_saved_io io = io_of(at);
	uint64_t addr;

	for (addr = at->vdso.start; addr < at->vdso.end; addr += PTC_SAVED_PAGE)
		if (!ptc_saved_look(&at->k->mm->code.saved, &io, addr, false))
			return false;
	return true;
}

int ptc_program_update_maps(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	struct at at = { .t = t, .k = k };
	struct ptc_mm *mm = k->mm;
	int rc = ptc_maps_read(&mm->maps, "/proc", k->tid, err);

	if (rc == PTC_E_NOT_EXIST || (rc == PTC_E_IO && err->sys == ESRCH))
		return 0; /* killed in between: the next stop reports the end */
	if (rc)
		return rc;
	ptc_code_flush(&mm->code);
	ptc_zone_resolve(&t->zone, mm);
	ptc_crossings_resolve(&t->crossings, mm);
	if (!ptc_told_update(&mm->told, &mm->maps, &mm->code.saved, record_new_mapping, &at) ||
	    !save_vdso(&at))
		return ptc_fail_mem(err);
	return 0;
}

/* Returns true if descriptor @fd of the task is a process's memory file. */
static bool is_memory(const struct ptc_task *k, uint64_t fd)
{
	char path[64], to[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)k->tid, (int)fd);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 4)
		return false;
	to[n] = '\0';
	return !strncmp(to, "/proc/", 6) && !strcmp(to + n - 4, "/mem");
}

/* Returns true if any part of [addr, addr + len) is executable. */
static bool has_executable_part(const struct ptc_maps *maps, uint64_t addr, uint64_t len)
{
	size_t i;

	for (i = 0; i < maps->n && maps->items[i].end <= addr; i++)
		;
	for (; i < maps->n; i++) {
		const struct ptc_map *map = &maps->items[i];

		if (map->start > addr && map->start - addr >= len)
			break;
		if (map->prot & PROT_EXEC)
			return true;
	}
	return false;
}

/* Returns true if the system call may have changed code that is mapped without PROT_WRITE. */
static bool writes_code(const struct ptc_task *k)
{
	switch (k->before.rax) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		return is_memory(k, k->before.rdi);
	case SYS_process_vm_writev:
		return true;
	default:
		return false;
	}
}

void ptc_program_after_syscall(struct ptc_tracer *t, const struct ptc_task *k)
{
	size_t i;

	if (k->insn.kind != PTC_KIND_SYSCALL)
		return;
	if (k->before.rax == SYS_madvise &&
	    has_executable_part(&k->mm->maps, k->before.rdi, k->before.rsi))
		/* discarded pages read as the file's bytes or zeros */
		ptc_code_flush(&k->mm->code);
	if (!writes_code(k))
		return;
	for (i = 0; i < t->tasks.n; i++) /* simpler than finding the process that was written to */
		if (t->tasks.items[i]->mm)
			ptc_code_flush(&t->tasks.items[i]->mm->code);
}

/* --- name and creation --- */

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
	char path[sizeof(t->rightless_path)];

	if (ptc_setid_lacks(k->tid, path, sizeof(path)) && !t->rightless++)
		memcpy(t->rightless_path, path, sizeof(path));
	if (!rc) {
		ptc_records_comm(t->rec, (const char *)comm.bytes, true);
		rc = ptc_program_update_maps(t, k, err);
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

int ptc_program_forked(struct ptc_task *k, const struct ptc_mm *from, struct ptc_err *err)
{
	struct ptc_mm *mm = k->mm;
	int rc;

	if (!ptc_told_copy(&mm->told, &from->told) ||
	    !ptc_saved_copy(&mm->code.saved, &from->code.saved))
		return ptc_fail_mem(err);
	rc = ptc_maps_read(&mm->maps, "/proc", k->tid, err);
	/* killed already: the next stop reports the end */
	return rc == PTC_E_NOT_EXIST || (rc == PTC_E_IO && err->sys == ESRCH) ? 0 : rc;
}
