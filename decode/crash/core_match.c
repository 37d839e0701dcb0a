/* SPDX-License-Identifier: MIT */
#include "decode/crash/core_match.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "decode/crash/crash_state.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/core.h"
#include "decode/sideband/process.h"

/* --- process and threads --- */

static bool recording_has_crash_of(const struct ptc_file *f, uint64_t pid)
{
	struct ptc_crash_state other = { .states = 0 };
	struct ptc_err ignored;
	const bool has = !ptc_crash_state_read(&other, f, pid, &ignored);

	ptc_crash_state_release(&other);
	return has;
}

static int match_pid(const struct ptc_core *c, const struct ptc_crash_state *d,
		     const struct ptc_file *f, struct ptc_err *err)
{
	const uint64_t pid = d->signal.pid;

	if (c->pid <= 0 || (uint64_t)c->pid == pid)
		return 0;
	if (recording_has_crash_of(f, (uint64_t)c->pid))
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' is the core of another process: pid %d in the core, pid "
				"%" PRIu64 " in the report; --pid %d reports that process",
				c->path, c->pid, pid, c->pid);
	return ptc_fail(err, PTC_E_USAGE,
			"'%s' is the core of another process: pid %d in the core, pid %" PRIu64
			" in the recording; use the core of process %" PRIu64 ", or omit --core",
			c->path, c->pid, pid, pid);
}

/* Returns the value of @type in an auxiliary vector, or 0. */
static uint64_t auxv_value(struct ptc_cur auxv, uint64_t type)
{
	uint64_t is, value;

	while (ptc_cur_le64(&auxv, &is) && ptc_cur_le64(&auxv, &value) && is != AT_NULL)
		if (is == type)
			return value;
	return 0;
}

/*
 * Addresses that exec chooses, at random by default, and that never change afterwards. They
 * distinguish processes with the same pid: an init process of a container, or a later process.
 */
static int match_exec(const struct ptc_core *c, const struct ptc_crash_state *d,
		      struct ptc_err *err)
{
	static const struct {
		uint64_t type;
		const char *what;
	} of_exec[] = {
		{ AT_ENTRY, "the program's entry" }, { AT_BASE, "the dynamic loader" },
		{ AT_SYSINFO_EHDR, "the vdso" },     { AT_RANDOM, "AT_RANDOM on the stack" },
		{ AT_EXECFN, "AT_EXECFN" },
	};
	uint64_t core, state;
	size_t i;

	for (i = 0; i < sizeof(of_exec) / sizeof(of_exec[0]); i++) {
		core = auxv_value(c->auxv, of_exec[i].type);
		state = auxv_value(d->auxv, of_exec[i].type);
		if (core && state && core != state)
			return ptc_fail(err, PTC_E_USAGE,
					"'%s' is the core of another process with pid %" PRIu64
					": %s is at 0x%" PRIx64 " in the core, at 0x%" PRIx64
					" in the recording; use the core of this crash, or omit "
					"--core",
					c->path, d->signal.pid, of_exec[i].what, core, state);
	}
	return 0;
}

static bool state_has_thread(const struct ptc_crash_state *d, uint64_t tid)
{
	size_t i;

	for (i = 0; i < d->nthreads; i++)
		if (d->threads[i].state.tid == tid)
			return true;
	return false;
}

static bool core_has_thread(const struct ptc_core *c, uint64_t tid)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++)
		if (c->threads[i].tid == tid)
			return true;
	return false;
}

static int fail_thread(const struct ptc_core *c, uint64_t tid, const char *has, const char *lacks,
		       struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_USAGE,
			"'%s' is of another process or moment: the %s has thread %" PRIu64
			", and the %s does not; use the core of this crash, or omit --core",
			c->path, has, tid, lacks);
}

static int match_threads(const struct ptc_core *c, const struct ptc_crash_state *d,
			 struct ptc_err *err)
{
	size_t i;

	if (!c->nthreads || core_has_thread(c, 0))
		return 0;
	for (i = 0; i < c->nthreads; i++)
		if (!state_has_thread(d, c->threads[i].tid))
			return fail_thread(c, c->threads[i].tid, "core", "recording", err);
	for (i = 0; i < d->nthreads; i++)
		if (!core_has_thread(c, d->threads[i].state.tid))
			return fail_thread(c, d->threads[i].state.tid, "recording", "core", err);
	return 0;
}

int ptc_core_match_state(const struct ptc_core *c, const struct ptc_crash_state *d,
			 const struct ptc_file *f, struct ptc_err *err)
{
	int rc = match_pid(c, d, f, err);

	if (!rc)
		rc = match_exec(c, d, err);
	return rc ? rc : match_threads(c, d, err);
}

/* --- files --- */

static int fail_build_id(const struct ptc_core *c, const struct ptc_core_map *m,
			 const struct ptc_build_id *core, const struct ptc_build_id *recorded,
			 struct ptc_err *err)
{
	const char *base = strrchr(m->name, '/');
	char ids[2][2 * PTC_BUILD_ID_MAX + 1];

	ptc_build_id_hex(core, ids[0]);
	ptc_build_id_hex(recorded, ids[1]);
	return ptc_fail(err, PTC_E_USAGE,
			"'%s' is the core of other files: the build-id of '%s' is %s in the core, "
			"%s in the recording; use the core of this crash, or omit --core",
			c->path, base ? base + 1 : m->name, ids[0], ids[1]);
}

/*
 * Returns the range of the file that the recording has at the address of @m, or NULL. The decoder
 * takes a range from the core only if both have the same file there.
 */
static const struct ptc_range *range_of_file(const struct ptc_addrspace *as,
					     const struct ptc_core_map *m)
{
	const struct ptc_range *r = ptc_addrspace_find(as, m->start);

	if (!r || !r->file)
		return NULL;
	if (r->file->from != PTC_CODE_CORE && r->off + (m->start - r->start) != m->off)
		return NULL;
	return r;
}

static bool has_file(const struct ptc_addrspace *as)
{
	const struct ptc_range *r;

	for (r = ptc_ranges_from(&as->ranges, 0); r; r = ptc_ranges_next(&as->ranges, r))
		if (r->file && r->file->name[0] == '/' && r->file->name[1] != '/')
			return true;
	return false;
}

static int match_files(const struct ptc_core *c, const struct ptc_addrspace *as, uint64_t pid,
		       struct ptc_err *err)
{
	const struct ptc_range *r;
	struct ptc_build_id id;
	bool any = false;
	size_t i;

	for (i = 0; i < c->nmaps; i++) {
		r = range_of_file(as, &c->maps[i]);
		any |= r != NULL;
		if (r && r->file->id.len && ptc_core_build_id(c, &c->maps[i], &id) == 1 &&
		    !ptc_build_id_same(&id, &r->file->id))
			return fail_build_id(c, &c->maps[i], &id, &r->file->id, err);
	}
	if (any || !c->nmaps || !has_file(as))
		return 0;
	return ptc_fail(err, PTC_E_USAGE,
			"'%s' is the core of another process with pid %" PRIu64
			": no file is at the same address in the recording; use the core of this "
			"crash, or omit --core",
			c->path, pid);
}

int ptc_core_match_process(const struct ptc_core *c, const struct ptc_procs *ps, uint64_t pid,
			   bool alone, struct ptc_err *err)
{
	const struct ptc_proc *p = ptc_procs_find(ps, (int32_t)pid);
	const uint32_t tid = c->nthreads ? c->threads[0].tid : 0;

	if (alone && !p && ps->nprocs)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' is the core of process %" PRIu64
				", and the recording has no such process; omit --core",
				c->path, pid);
	if (alone && tid && ps->nthreads && !ptc_procs_thread(ps, (int32_t)tid))
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' is the core of thread %" PRIu32 " of process %" PRIu64
				", and the recording has no such thread; omit --core",
				c->path, tid, pid);
	return p ? match_files(c, &p->as, pid, err) : 0;
}
