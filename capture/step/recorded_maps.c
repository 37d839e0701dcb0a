/* SPDX-License-Identifier: MIT */
#include "capture/step/recorded_maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vec.h"

struct ptc_told_range {
	uint64_t start, end;
	/* Identity of the mapping. */
	uint64_t ino, base; /* base: the address of offset 0, for files only */
	uint64_t name;	    /* a hash */
	uint32_t maj, min;
};

struct update {
	const struct ptc_told *before;
	struct ptc_told now;
	struct ptc_saved_range *kept; /* owned */
	size_t nkept, kept_cap;
	void (*tell)(void *ctx, const struct ptc_map *part);
	void *ctx;
};

void ptc_told_release(struct ptc_told *t)
{
	free(t->ranges);
	*t = (struct ptc_told){ NULL, 0, 0 };
}

bool ptc_told_copy(struct ptc_told *t, const struct ptc_told *from)
{
	if (!ptc_vec_reserve((void **)&t->ranges, &t->cap, from->n, sizeof(*t->ranges)))
		return false;
	if (from->n)
		memcpy(t->ranges, from->ranges, from->n * sizeof(*t->ranges));
	t->n = from->n;
	return true;
}

/* FNV-1a hash. */
static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3;
	return h;
}

static struct ptc_told_range describe(const struct ptc_maps *maps, const struct ptc_map *m)
{
	return (struct ptc_told_range){
		.start = m->start,
		.end = m->end,
		.ino = m->ino,
		.base = m->ino ? m->start - m->off : 0,
		.name = hash(ptc_map_name(maps, m)),
		.maj = m->maj,
		.min = m->min,
	};
}

static bool same_thing(const struct ptc_told_range *a, const struct ptc_told_range *b)
{
	return a->ino == b->ino && a->base == b->base && a->name == b->name && a->maj == b->maj &&
	       a->min == b->min;
}

static bool append_recorded_range(struct ptc_told *t, const struct ptc_told_range *r)
{
	if (!ptc_vec_reserve((void **)&t->ranges, &t->cap, t->n + 1, sizeof(*t->ranges)))
		return false;
	t->ranges[t->n++] = *r;
	return true;
}

static bool append_kept_range(struct update *u, const struct ptc_told_range *r)
{
	if (!ptc_vec_reserve((void **)&u->kept, &u->kept_cap, u->nkept + 1, sizeof(*u->kept)))
		return false;
	u->kept[u->nkept++] = (struct ptc_saved_range){ r->start, r->end };
	return true;
}

static bool is_executable_map(const struct ptc_maps *maps, const struct ptc_map *m)
{
	return (m->prot & PROT_EXEC) && strcmp(ptc_map_name(maps, m), "[vsyscall]") != 0;
}

static void tell_part(const struct update *u, const struct ptc_map *m, uint64_t start, uint64_t end)
{
	struct ptc_map part = *m;

	if (start >= end)
		return;
	if (m->ino)
		part.off += start - m->start;
	part.start = start;
	part.end = end;
	u->tell(u->ctx, &part);
}

/*
 * Handles one mapping. @first: index of the first recorded range that ends after the mapping's
 * start.
 */
static bool update_one_mapping(struct update *u, const struct ptc_maps *maps,
			       const struct ptc_map *m, size_t first)
{
	const struct ptc_told_range now = describe(maps, m);
	const bool code = is_executable_map(maps, m);
	uint64_t upto = m->start; /* handled so far */
	size_t i;

	for (i = first; i < u->before->n && u->before->ranges[i].start < m->end; i++) {
		struct ptc_told_range part = u->before->ranges[i];

		if (!same_thing(&part, &now))
			continue;
		if (part.start < m->start)
			part.start = m->start;
		if (part.end > m->end)
			part.end = m->end;
		if (code)
			tell_part(u, m, upto, part.start);
		upto = part.end;
		if (!append_kept_range(u, &part) ||
		    (!code && !append_recorded_range(&u->now, &part)))
			return false;
	}
	if (!code)
		return true;
	tell_part(u, m, upto, m->end);
	return append_recorded_range(&u->now, &now);
}

bool ptc_told_update(struct ptc_told *t, const struct ptc_maps *maps, struct ptc_saved *saved,
		     void (*tell)(void *ctx, const struct ptc_map *part), void *ctx)
{
	struct update u = { .before = t, .tell = tell, .ctx = ctx };
	size_t i, first = 0;
	bool ok = true;

	for (i = 0; ok && i < maps->n; i++) {
		while (first < t->n && t->ranges[first].end <= maps->items[i].start)
			first++;
		ok = update_one_mapping(&u, maps, &maps->items[i], first);
	}
	if (ok) {
		ptc_saved_keep(saved, u.kept, u.nkept);
		ptc_told_release(t);
		*t = u.now;
	} else {
		ptc_told_release(&u.now);
	}
	free(u.kept);
	return ok;
}
