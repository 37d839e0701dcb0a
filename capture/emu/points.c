/* SPDX-License-Identifier: MIT */
/* Places in the code at which a snapshot is taken: which blocks contain them. */
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "capture/emu/plugin.h"

/* The guest address of each point in this process; 0: not mapped. */
static atomic_ullong point_at[PTC_AT_MAX];

/*
 * Some file systems report one device in maps and another in stat. An equal name is accepted too.
 */
static bool is_file_of(const struct ptc_emu_point *p, const struct ptc_emu_map *map,
		       const char *name)
{
	if (p->ino && map->ino == p->ino && makedev(map->maj, map->min) == p->dev)
		return true;
	return name && !strcmp(name, p->file);
}

void ptc_emu_points_mapped(const struct ptc_emu_map *map, const char *name)
{
	const struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	uint32_t i;

	for (i = 0; i < sh->npoints && map->prot & PROT_EXEC; i++) {
		const struct ptc_emu_point *p = &sh->points[i];

		if (*p->file && p->addr >= map->off && p->addr - map->off < map->len &&
		    is_file_of(p, map, name))
			atomic_store(&point_at[i], map->start + (p->addr - map->off));
	}
}

uint64_t ptc_emu_points_at(uint64_t addr)
{
	const struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	uint64_t ret = 0;
	uint32_t i;

	for (i = 0; i < sh->npoints; i++) {
		const struct ptc_emu_point *p = &sh->points[i];

		if (addr && addr == (*p->file ? atomic_load(&point_at[i]) : p->addr))
			ret |= (uint64_t)1 << i;
	}
	return ret;
}

void ptc_emu_points_reached(struct ptc_emu_me *m, uint64_t ip, uint64_t points)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	bool reached = false;
	uint32_t i;

	for (i = 0; i < sh->npoints; i++) {
		struct ptc_emu_point *p = &sh->points[i];

		if (points >> i & 1)
			reached |= (atomic_fetch_add(&p->seen, 1) + 1) % p->count == 0;
	}
	if (!reached || !ptc_emu_has_stream(m))
		return;
	ptc_emu_put(m, PTC_EMU_POINT, NULL, 0);
	ptc_emu_put(m, PTC_EMU_HELD, NULL, 0);
	ptc_emu_sync_at(m, ip);
}
