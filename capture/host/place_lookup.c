/* SPDX-License-Identifier: MIT */
#include "capture/host/place_lookup.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct ptc_placed ptc_placed_of(const struct ptc_place *place)
{
	struct ptc_placed p = { .place = place };
	struct stat st;

	if (place && place->file && !stat(place->file, &st)) {
		p.dev = st.st_dev;
		p.ino = st.st_ino;
	}
	return p;
}

/*
 * Some file systems report one device in maps and another in stat. An equal name is accepted too.
 */
static bool is_file(const struct ptc_placed *p, const struct ptc_maps *maps,
		    const struct ptc_map *map)
{
	if (p->ino && map->ino == p->ino && makedev(map->maj, map->min) == p->dev)
		return true;
	return !strcmp(ptc_map_name(maps, map), p->place->file);
}

uint64_t ptc_placed_at(const struct ptc_placed *p, const struct ptc_maps *maps)
{
	size_t i;

	if (!p->place)
		return 0;
	if (!p->place->file)
		return p->place->addr;
	for (i = 0; i < maps->n; i++) {
		const struct ptc_map *map = &maps->items[i];
		const uint64_t in = p->place->addr - map->off;

		if ((map->prot & PROT_EXEC) && p->place->addr >= map->off &&
		    in < map->end - map->start && is_file(p, maps, map))
			return map->start + in;
	}
	return 0;
}
