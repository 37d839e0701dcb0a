/* SPDX-License-Identifier: MIT */
#include "capture/emu/guest_maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sorted.h"
#include "base/vec.h"

enum { NAMES = 16384 }; /* below this size of names, tidying is not worthwhile */

/* Items are ascending and disjoint, as in /proc/PID/maps. Neighbours are not merged. */

/* Returns the index of the first item that ends after @addr. */
static size_t find_map_ending_after(const struct ptc_maps *m, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, m->n, m->items[i].end <= addr);
}

static bool insert(struct ptc_maps *m, size_t at, const struct ptc_map *map)
{
	if (!ptc_vec_reserve((void **)&m->items, &m->cap, m->n + 1, sizeof(*m->items)))
		return false;
	memmove(m->items + at + 1, m->items + at, (m->n - at) * sizeof(*m->items));
	m->items[at] = *map;
	m->n++;
	return true;
}

/* Splits the item that contains @addr into two, the second of which begins at @addr. */
static bool split(struct ptc_maps *m, uint64_t addr)
{
	const size_t at = find_map_ending_after(m, addr);
	struct ptc_map high;

	if (at == m->n || m->items[at].start >= addr)
		return true;
	high = m->items[at];
	high.off += addr - high.start;
	high.start = addr;
	m->items[at].end = addr;
	return insert(m, at + 1, &high);
}

/*
 * Splits items at @start and @end. Items [*ret_at, *ret_end) are then exactly those in [start,
 * end).
 */
static bool isolate(struct ptc_maps *m, uint64_t start, uint64_t end, size_t *ret_at,
		    size_t *ret_end)
{
	if (!split(m, start) || !split(m, end))
		return false;
	*ret_at = find_map_ending_after(m, start);
	for (*ret_end = *ret_at; *ret_end < m->n && m->items[*ret_end].start < end;)
		++*ret_end;
	return true;
}

static bool cut(struct ptc_maps *m, uint64_t start, uint64_t end, size_t *ret_at)
{
	size_t last;

	if (!isolate(m, start, end, ret_at, &last))
		return false;
	if (last > *ret_at)
		memmove(m->items + *ret_at, m->items + last, (m->n - last) * sizeof(*m->items));
	m->n -= last - *ret_at;
	return true;
}

/* Finds or appends @name in the text, and returns its offset in *ret. False: out of memory. */
static bool name_at(struct ptc_maps *m, const char *name, size_t *ret)
{
	size_t at = 0;

	while (at < m->text.len) {
		const char *known = (const char *)m->text.bytes + at;

		if (!strcmp(known, name)) {
			*ret = at;
			return true;
		}
		at += strlen(known) + 1;
	}
	ptc_buf_put(&m->text, name, strlen(name) + 1);
	*ret = at;
	return !ptc_buf_failed(&m->text);
}

/* Drops the names that no item uses. False: out of memory. */
static bool tidy_names(struct ptc_maps *m)
{
	struct ptc_buf old = m->text;
	size_t i;
	bool ok = true;

	m->text = (struct ptc_buf)PTC_BUF_INIT;
	for (i = 0; ok && i < m->n; i++)
		ok = name_at(m, (const char *)old.bytes + m->items[i].name, &m->items[i].name);
	ptc_buf_release(&old);
	m->tidied = m->text.len;
	return ok;
}

/*
 * Returns a hash that is equal for two mappings only if they have the same part of the same file at
 * the same address. Each part of @map has the same value.
 */
static uint64_t view_of(const struct ptc_map *map, const char *name)
{
	const uint64_t words[] = { map->ino, map->maj, map->min, map->off - map->start };
	uint64_t hash = 14695981039346656037u;
	size_t i;

	if (name[0] != '/')
		return 0;
	for (i = 0; name[i]; i++)
		hash = (hash ^ (uint8_t)name[i]) * 1099511628211u;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

static bool replace_guest_range(struct ptc_maps *m, struct ptc_map *map, const char *name,
				ptc_space_tell *tell, void *ctx)
{
	size_t at;

	if (map->start >= map->end)
		return true;
	map->view = view_of(map, name);
	if (!cut(m, map->start, map->end, &at) || !name_at(m, name, &map->name) ||
	    !insert(m, at, map))
		return false;
	if (m->text.len > NAMES + 2 * m->tidied && !tidy_names(m))
		return false;
	map->name = m->items[at].name;
	if (map->prot & PROT_EXEC)
		tell(ctx, m, map);
	return true;
}

/* Adds anonymous data mappings where no mapping is known. */
static bool fill_gaps(struct ptc_maps *m, uint64_t start, uint64_t end)
{
	while (start < end) {
		const size_t at = find_map_ending_after(m, start);
		struct ptc_map gap = { .start = start, .end = end, .flags = MAP_PRIVATE };

		if (at < m->n && m->items[at].start <= start) {
			start = m->items[at].end;
			continue;
		}
		if (at < m->n && m->items[at].start < end)
			gap.end = m->items[at].start;
		if (!name_at(m, "", &gap.name) || !insert(m, at, &gap))
			return false;
		start = gap.end;
	}
	return true;
}

static bool protect(struct ptc_maps *m, const struct ptc_emu_map *c, ptc_space_tell *tell,
		    void *ctx)
{
	size_t at, last;

	if (c->prot & PROT_EXEC && !fill_gaps(m, c->start, c->start + c->len))
		return false;
	if (!isolate(m, c->start, c->start + c->len, &at, &last))
		return false;
	for (; at < last; at++) {
		struct ptc_map *map = &m->items[at];
		const bool becomes = c->prot & PROT_EXEC && !(map->prot & PROT_EXEC);

		map->prot = c->prot;
		if (becomes)
			tell(ctx, m, map);
	}
	return true;
}

/* Moves the mapping at @c->from to @c->start; its size may change. */
static bool move(struct ptc_maps *m, const struct ptc_emu_map *c, ptc_space_tell *tell, void *ctx)
{
	const size_t at = find_map_ending_after(m, c->from);
	struct ptc_map map;
	char *name;
	size_t gone;
	bool ok;

	if (at == m->n || m->items[at].start > c->from) /* data, which is not tracked */
		return cut(m, c->from, c->from + c->from_len, &gone) &&
		       cut(m, c->start, c->start + c->len, &gone);
	map = m->items[at];
	name = strdup(ptc_map_name(m, &map)); /* the text buffer may move */
	if (!name)
		return false;
	map.off += c->from - map.start;
	map.start = c->start;
	map.end = c->start + c->len;
	ok = cut(m, c->from, c->from + c->from_len, &gone) &&
	     replace_guest_range(m, &map, name, tell, ctx);
	free(name);
	return ok;
}

bool ptc_space_apply(struct ptc_maps *maps, const struct ptc_emu_map *change, const char *name,
		     ptc_space_tell *tell, void *ctx)
{
	struct ptc_map map = { .start = change->start,
			       .end = change->start + change->len,
			       .off = change->off,
			       .ino = change->ino,
			       .maj = change->maj,
			       .min = change->min,
			       .prot = change->prot,
			       .flags = change->flags };
	size_t at;

	switch ((enum ptc_emu_change)change->change) {
	case PTC_EMU_MMAP:
		if (!*name && !(map.prot & PROT_EXEC)) /* data that replaces other mappings */
			return cut(maps, map.start, map.end, &at);
		return replace_guest_range(maps, &map, name, tell, ctx);
	case PTC_EMU_DATA:
		return replace_guest_range(maps, &map, "", tell, ctx);
	case PTC_EMU_MUNMAP:
		return cut(maps, map.start, map.end, &at);
	case PTC_EMU_MPROTECT:
		return protect(maps, change, tell, ctx);
	case PTC_EMU_MREMAP:
		return move(maps, change, tell, ctx);
	}
	return true;
}

bool ptc_space_copy(struct ptc_maps *to, const struct ptc_maps *from)
{
	if (!ptc_vec_reserve((void **)&to->items, &to->cap, from->n, sizeof(*to->items)))
		return false;
	if (from->n)
		memcpy(to->items, from->items, from->n * sizeof(*to->items));
	to->n = from->n;
	ptc_buf_put(&to->text, from->text.bytes, from->text.len);
	return !ptc_buf_failed(&to->text);
}
