/* SPDX-License-Identifier: MIT */
/* The contents of a state: functions of ptcap/crash_state.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/crash/crash_state.h"

int ptc_crash_state_open(const struct ptc_file *f, uint64_t pid, struct ptc_crash_state **ret,
			 struct ptc_err *err)
{
	struct ptc_crash_state *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return ptc_fail_mem(err);
	rc = ptc_crash_state_read_killed_or_live(d, f, pid, err);
	if (rc)
		ptc_crash_state_free(d);
	else
		*ret = d;
	return rc;
}

void ptc_crash_state_free(struct ptc_crash_state *d)
{
	if (!d)
		return;
	ptc_crash_state_release(d);
	free(d);
}

const struct ptc_crash_signal *ptc_crash_state_signal(const struct ptc_crash_state *d)
{
	return &d->signal;
}

const struct ptc_crash_live *ptc_crash_state_live(const struct ptc_crash_state *d)
{
	return d->live.pid ? &d->live : NULL;
}

uint64_t ptc_crash_state_cut(const struct ptc_crash_state *d)
{
	return d->cut;
}

/* --- threads --- */

size_t ptc_crash_state_threads(const struct ptc_crash_state *d)
{
	return d->nthreads;
}

const struct ptc_crash_state_thread *ptc_crash_state_get_thread(const struct ptc_crash_state *d,
								size_t i)
{
	return i < d->nthreads ? &d->threads[i] : NULL;
}

const struct ptc_crash_state_thread *ptc_crash_state_victim(const struct ptc_crash_state *d)
{
	size_t i;

	for (i = 0; i < d->nthreads; i++)
		if (d->threads[i].state.tid == d->signal.tid)
			return &d->threads[i];
	return NULL;
}

const struct ptc_crash_thread *ptc_crash_state_registers(const struct ptc_crash_state_thread *t)
{
	return &t->state;
}

const struct ptc_crash_task *ptc_crash_state_task(const struct ptc_crash_state_thread *t)
{
	return &t->task;
}

const char *ptc_crash_state_thread_name(const struct ptc_crash_state_thread *t)
{
	return t->name;
}

struct ptc_cur ptc_crash_state_call_file(const struct ptc_crash_state_thread *t)
{
	return t->file;
}

/* --- mappings and memory --- */

size_t ptc_crash_state_maps(const struct ptc_crash_state *d)
{
	return d->nmaps;
}

const struct ptc_crash_state_map *ptc_crash_state_get_map(const struct ptc_crash_state *d, size_t i)
{
	return i < d->nmaps ? &d->maps[i] : NULL;
}

const struct ptc_crash_state_map *ptc_crash_state_map_at(const struct ptc_crash_state *d,
							 uint64_t addr)
{
	size_t i;

	for (i = 0; i < d->nmaps; i++)
		if (addr >= d->maps[i].map.start && addr < d->maps[i].map.end)
			return &d->maps[i];
	return NULL;
}

const struct ptc_crash_state_map *ptc_crash_state_map_above(const struct ptc_crash_state *d,
							    uint64_t addr)
{
	size_t i;

	for (i = 0; i < d->nmaps; i++)
		if (d->maps[i].map.start > addr)
			return &d->maps[i];
	return NULL;
}

const struct ptc_crash_map *ptc_crash_state_map_range(const struct ptc_crash_state_map *m)
{
	return &m->map;
}

const char *ptc_crash_state_map_name(const struct ptc_crash_state_map *m)
{
	return m->name;
}

/* Read what one piece has at @addr. */
static size_t read_piece(const struct ptc_crash_state_piece *p, uint64_t addr, uint8_t *ret,
			 size_t len)
{
	const size_t size = ptc_cur_left(&p->bytes);
	size_t n;

	if (addr < p->addr || addr - p->addr >= size)
		return 0;
	n = size - (size_t)(addr - p->addr);
	n = n < len ? n : len;
	memcpy(ret, p->bytes.pos + (addr - p->addr), n);
	return n;
}

size_t ptc_crash_state_memory(const struct ptc_crash_state *d, uint64_t addr, uint8_t *ret,
			      size_t len)
{
	size_t done = 0, now, i;

	do {
		for (now = 0, i = 0; !now && done < len && i < d->npieces; i++)
			now = read_piece(&d->pieces[i], addr + done, ret + done, len - done);
		done += now;
	} while (now);
	return done;
}
