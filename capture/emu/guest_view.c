/* SPDX-License-Identifier: MIT */
#include "capture/emu/guest_view.h"

#include <string.h>
#include <sys/mman.h>

#include "base/sorted.h"
#include "base/vec.h"

/*
 * The kernel places mappings without an address below the stack, at 2^47 minus a random part of at
 * most 2^40 bytes (arch/x86/mm/mmap.c). Unknown data there counts as QEMU's own.
 */
#define KERNELS_CHOICE ((uint64_t)0x7e0000000000)

static bool is_of_file(const struct ptc_map *m)
{
	return m->ino != 0;
}

static bool is_same_file(const struct ptc_map *a, const struct ptc_map *b)
{
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min;
}

/* Returns true if @b continues the object @a, which the loader has mapped. */
static bool continues(const struct ptc_map *a, const struct ptc_map *b)
{
	return a->end == b->start && is_of_file(a) && is_same_file(a, b);
}

/*
 * Returns true if item @i belongs to an object with code for this machine's processor. QEMU and its
 * libraries have such code. Code of the guest is not executable in QEMU's process.
 */
static bool is_of_loaded_object(const struct ptc_maps *host, size_t i)
{
	size_t first = i, last = i;

	while (first && continues(&host->items[first - 1], &host->items[first]))
		first--;
	while (last + 1 < host->n && continues(&host->items[last], &host->items[last + 1]))
		last++;
	for (; first <= last; first++)
		if (host->items[first].prot & PROT_EXEC)
			return true;
	return false;
}

static bool is_qemus(const struct ptc_maps *host, size_t i)
{
	const struct ptc_map *m = &host->items[i];
	const char *name = ptc_map_name(host, m);

	if (m->prot & PROT_EXEC || name[0] == '[' || !strncmp(name, "/SYSV", strlen("/SYSV")))
		return true;
	if (is_of_file(m))
		return is_of_loaded_object(host, i);
	/* the part of an object's data that is in no file */
	if (i && host->items[i - 1].end == m->start && is_of_file(&host->items[i - 1]) &&
	    is_of_loaded_object(host, i - 1))
		return true;
	/* the same of a guest's object */
	if (i && host->items[i - 1].end == m->start && is_of_file(&host->items[i - 1]))
		return false;
	return m->start >= KERNELS_CHOICE;
}

/* Appends the part [from, to) of @map, in guest addresses; @names has its name. */
static bool append_part(struct ptc_maps *ret, const struct ptc_map *map,
			const struct ptc_maps *names, uint64_t start, uint64_t from, uint64_t to)
{
	const char *name = ptc_map_name(names, map);
	struct ptc_map part = *map;

	if (from >= to)
		return true;
	if (!ptc_vec_reserve((void **)&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)))
		return false;
	part.off += from - start;
	part.start = from;
	part.end = to;
	part.name = ret->text.len;
	ptc_buf_put(&ret->text, name, strlen(name) + 1);
	ret->items[ret->n++] = part;
	return !ptc_buf_failed(&ret->text);
}

/* Appends item @i of @host: the known mappings in it, and the rest unless it is QEMU's. */
static bool append_item(struct ptc_maps *ret, const struct ptc_maps *host, size_t i,
			const struct ptc_maps *known, uint64_t base)
{
	const struct ptc_map *m = &host->items[i];
	const uint64_t start = m->start - base, end = m->end - base;
	const bool qemus = is_qemus(host, i);
	size_t k = PTC_PARTITION_POINT(j, 0, known->n, known->items[j].end <= start);
	uint64_t at = start;

	for (; k < known->n && known->items[k].start < end; k++) {
		const struct ptc_map *part = &known->items[k];
		const uint64_t from = part->start > start ? part->start : start;
		const uint64_t to = part->end < end ? part->end : end;

		if (!qemus && !append_part(ret, m, host, start, at, from))
			return false;
		if (!append_part(ret, part, known, part->start, from, to))
			return false;
		at = to;
	}
	return qemus || append_part(ret, m, host, start, at, end);
}

bool ptc_emu_guest_view(const struct ptc_maps *host, const struct ptc_maps *known, uint64_t base,
			struct ptc_maps *ret)
{
	bool ok = true;
	size_t i;

	ptc_maps_release(ret);
	for (i = 0; ok && i < host->n; i++)
		if (host->items[i].start >= base)
			ok = append_item(ret, host, i, known, base);
	return ok;
}
