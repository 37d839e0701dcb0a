/* SPDX-License-Identifier: MIT */
#include "capture/step/code_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

/* The bytes of a page. Forked processes share a page until one process changes it. */
struct content {
	unsigned int owners;
	uint8_t bytes[PTC_SAVED_PAGE];
};

struct ptc_saved_page {
	uint64_t addr;
	uint64_t generation;   /* value at the last check; 0: not checked yet */
	struct content *known; /* NULL: unknown, or equal to the file */
};

static void put_content(struct content *c)
{
	if (c && !--c->owners)
		free(c);
}

void ptc_saved_release(struct ptc_saved *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		put_content(s->pages[i].known);
	free(s->pages);
	*s = (struct ptc_saved){ NULL, 0, 0, 0 };
}

bool ptc_saved_copy(struct ptc_saved *s, const struct ptc_saved *from)
{
	size_t i;

	ptc_saved_release(s);
	if (!ptc_vec_reserve((void **)&s->pages, &s->cap, from->n, sizeof(*s->pages)))
		return false;
	for (i = 0; i < from->n; i++) {
		s->pages[i] = from->pages[i];
		s->pages[i].generation = 0;
		if (s->pages[i].known)
			s->pages[i].known->owners++;
	}
	s->n = from->n;
	s->generation = 1;
	return true;
}

void ptc_saved_flush(struct ptc_saved *s)
{
	s->generation++;
}

void ptc_saved_keep(struct ptc_saved *s, const struct ptc_saved_range *ranges, size_t n)
{
	size_t i, kept = 0, r = 0;

	for (i = 0; i < s->n; i++) {
		while (r < n && ranges[r].end <= s->pages[i].addr)
			r++;
		if (r < n && ranges[r].start <= s->pages[i].addr)
			s->pages[kept++] = s->pages[i];
		else
			put_content(s->pages[i].known);
	}
	s->n = kept;
}

/* Returns the index of the first page at or after @addr. */
static size_t lower(const struct ptc_saved *s, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, s->n, s->pages[i].addr < addr);
}

static struct ptc_saved_page *find_saved_page(const struct ptc_saved *s, uint64_t addr)
{
	const size_t i = lower(s, addr);

	return i < s->n && s->pages[i].addr == addr ? &s->pages[i] : NULL;
}

/* Finds or adds the page. NULL: out of memory. */
static struct ptc_saved_page *find_or_add_page(struct ptc_saved *s, uint64_t addr)
{
	const size_t i = lower(s, addr);

	if (i < s->n && s->pages[i].addr == addr)
		return &s->pages[i];
	if (!ptc_vec_reserve((void **)&s->pages, &s->cap, s->n + 1, sizeof(*s->pages)))
		return NULL;
	memmove(&s->pages[i + 1], &s->pages[i], (s->n - i) * sizeof(*s->pages));
	s->pages[i] = (struct ptc_saved_page){ .addr = addr };
	s->n++;
	return &s->pages[i];
}

static bool set_known(struct ptc_saved_page *p, const uint8_t *bytes)
{
	struct content *c = p->known;

	if (!c || c->owners > 1) {
		c = malloc(sizeof(*c));
		if (!c)
			return false;
		c->owners = 1;
		put_content(p->known);
		p->known = c;
	}
	memcpy(c->bytes, bytes, PTC_SAVED_PAGE);
	return true;
}

/*
 * Saves the difference between @before and @now: one range, from the first to the last changed
 * byte.
 */
static void save_changes(const struct ptc_saved_io *io, uint64_t addr, const uint8_t *before,
			 const uint8_t *now)
{
	size_t first = 0, end = PTC_SAVED_PAGE;

	while (before[first] == now[first])
		first++;
	while (before[end - 1] == now[end - 1])
		end--;
	io->save(io->ctx, addr + first, now + first, end - first);
}

/* Records the current contents @now of the page. */
static bool record_page_contents(struct ptc_saved_page *p, const struct ptc_saved_io *io,
				 const uint8_t *now, bool watch)
{
	uint8_t file[PTC_SAVED_PAGE];
	const uint8_t *before = NULL;

	if (p->known)
		before = p->known->bytes;
	else if (io->read_file(io->ctx, p->addr, file))
		before = file;
	if (!before)
		io->save(io->ctx, p->addr, now, PTC_SAVED_PAGE);
	else if (memcmp(before, now, PTC_SAVED_PAGE) != 0)
		save_changes(io, p->addr, before, now);
	else if (p->known || !watch)
		return true;
	return set_known(p, now);
}

bool ptc_saved_look(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr, bool watch)
{
	struct ptc_saved_page *p = find_or_add_page(s, addr - addr % PTC_SAVED_PAGE);
	uint8_t now[PTC_SAVED_PAGE];

	if (!p)
		return false;
	if (p->generation == s->generation + 1)
		return true;
	if (io->read(io->ctx, p->addr, now, PTC_SAVED_PAGE) < PTC_SAVED_PAGE)
		return true; /* unreadable: no code can run there */
	p->generation = s->generation + 1;
	return record_page_contents(p, io, now, watch);
}

bool ptc_saved_check(struct ptc_saved *s, const struct ptc_saved_io *io, uint64_t addr,
		     const uint8_t *bytes, size_t len)
{
	const size_t off = (size_t)(addr % PTC_SAVED_PAGE);
	struct ptc_saved_page *p = find_saved_page(s, addr - off);
	uint8_t now[PTC_SAVED_PAGE];

	if (!p || !p->known || !memcmp(p->known->bytes + off, bytes, len))
		return true;
	if (io->read(io->ctx, p->addr, now, PTC_SAVED_PAGE) < PTC_SAVED_PAGE)
		return true;
	return record_page_contents(p, io, now, true);
}
