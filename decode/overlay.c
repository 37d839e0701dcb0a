/* SPDX-License-Identifier: MIT */
/*
 * A hash of pages, each with a list of its pieces. A piece points to bytes of
 * the recording. A page has at most so many pieces as bytes, so every step but
 * the sweep of a long range takes bounded time.
 */
#include "decode/overlay.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, FIRST_SLOTS = 64 };

struct piece {
	struct piece *next;   /* owned; ascending */
	const uint8_t *bytes; /* lent */
	uint16_t start, end;  /* [start, end) of the page */
};

struct page {
	uint64_t no; /* address / PAGE */
	bool used;
	struct piece *pieces; /* owned; NULL: none any more */
};

struct ptc_overlay {
	unsigned int owners;
	struct page *slots; /* owned; open addressing; nslots is a power of two */
	size_t nslots, npages, npieces;
};

struct ptc_overlay *ptc_overlay_new(void)
{
	struct ptc_overlay *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->owners = 1;
	o->nslots = FIRST_SLOTS;
	o->slots = calloc(o->nslots, sizeof(*o->slots));
	if (!o->slots) {
		free(o);
		return NULL;
	}
	return o;
}

struct ptc_overlay *ptc_overlay_get(struct ptc_overlay *o)
{
	o->owners++;
	return o;
}

bool ptc_overlay_shared(const struct ptc_overlay *o)
{
	return o->owners > 1;
}

void ptc_overlay_put(struct ptc_overlay *o)
{
	size_t i;

	if (!o || --o->owners)
		return;
	for (i = 0; i < o->nslots; i++) {
		while (o->slots[i].pieces) {
			struct piece *p = o->slots[i].pieces;

			o->slots[i].pieces = p->next;
			free(p);
		}
	}
	free(o->slots);
	free(o);
}

size_t ptc_overlay_size(const struct ptc_overlay *o)
{
	return o->npieces;
}

/* Where @no is, or would be. There is always a slot that is not used. */
static struct page *slot_of(struct page *slots, size_t nslots, uint64_t no)
{
	uint64_t h = no * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h ^ h >> 32) & (nslots - 1);

	while (slots[i].used && slots[i].no != no)
		i = (i + 1) & (nslots - 1);
	return &slots[i];
}

static bool grow(struct ptc_overlay *o)
{
	const size_t n = o->nslots * 2;
	struct page *slots = calloc(n, sizeof(*slots));
	size_t i, npages = 0;

	if (!slots)
		return false;
	for (i = 0; i < o->nslots; i++) {
		if (!o->slots[i].pieces) /* also gets rid of pages that have become empty */
			continue;
		*slot_of(slots, n, o->slots[i].no) = o->slots[i];
		npages++;
	}
	free(o->slots);
	o->slots = slots;
	o->nslots = n;
	o->npages = npages;
	return true;
}

/* Find or make; NULL: out of memory. */
static struct page *get_page(struct ptc_overlay *o, uint64_t no)
{
	struct page *p = slot_of(o->slots, o->nslots, no);

	if (p->used)
		return p;
	if ((o->npages + 1) * 4 > o->nslots * 3) {
		if (!grow(o))
			return NULL;
		p = slot_of(o->slots, o->nslots, no);
	}
	*p = (struct page){ .no = no, .used = true };
	o->npages++;
	return p;
}

/* Insert a piece at *@at. */
static bool insert(struct ptc_overlay *o, struct piece **at, unsigned int start, unsigned int end,
		   const uint8_t *bytes)
{
	struct piece *p = malloc(sizeof(*p));

	if (!p)
		return false;
	*p = (struct piece){
		.next = *at, .bytes = bytes, .start = (uint16_t)start, .end = (uint16_t)end
	};
	*at = p;
	o->npieces++;
	return true;
}

/* Remove [start, end) of a page; *@ret: where a piece for just that would be inserted. */
static bool cut(struct ptc_overlay *o, struct page *page, unsigned int start, unsigned int end,
		struct piece ***ret)
{
	struct piece **at = &page->pieces, *p;

	while (*at && (*at)->end <= start)
		at = &(*at)->next;
	if (*at && (*at)->start < start) { /* it sticks out in front */
		p = *at;
		if (p->end > end && !insert(o, &p->next, end, p->end, p->bytes + (end - p->start)))
			return false;
		p->end = (uint16_t)start;
		at = &p->next;
	}
	while (*at && (*at)->end <= end) {
		p = *at;
		*at = p->next;
		free(p);
		o->npieces--;
	}
	if (*at && (*at)->start < end) { /* it sticks out behind */
		p = *at;
		p->bytes += end - p->start;
		p->start = (uint16_t)end;
	}
	*ret = at;
	return true;
}

bool ptc_overlay_patch(struct ptc_overlay *o, uint64_t addr, const uint8_t *bytes, size_t len)
{
	struct piece **at;
	struct page *page;

	if (len && len - 1 > UINT64_MAX - addr)
		len = (size_t)(UINT64_MAX - addr) + 1;
	while (len) {
		const unsigned int start = (unsigned int)(addr % PAGE);
		const size_t n = len < PAGE - start ? len : PAGE - start;

		page = get_page(o, addr / PAGE);
		if (!page || !cut(o, page, start, start + (unsigned int)n, &at) ||
		    !insert(o, at, start, start + (unsigned int)n, bytes))
			return false;
		addr += n;
		bytes += n;
		len -= n;
	}
	return true;
}

/* Forget what @page has in [start, end), addresses that overlap it. */
static bool drop_in(struct ptc_overlay *o, struct page *page, uint64_t start, uint64_t end)
{
	const uint64_t base = page->no * PAGE;
	struct piece **at;

	return cut(o, page, start > base ? (unsigned int)(start - base) : 0,
		   end - base < PAGE ? (unsigned int)(end - base) : PAGE, &at);
}

bool ptc_overlay_drop(struct ptc_overlay *o, uint64_t start, uint64_t end)
{
	uint64_t no, last;
	size_t i;

	if (start >= end)
		return true;
	last = (end - 1) / PAGE;
	if (last - start / PAGE < o->nslots) {
		for (no = start / PAGE; no <= last; no++) {
			struct page *page = slot_of(o->slots, o->nslots, no);

			if (page->pieces && !drop_in(o, page, start, end))
				return false;
		}
		return true;
	}
	for (i = 0; i < o->nslots; i++) {
		struct page *page = &o->slots[i];

		if (page->pieces && page->no >= start / PAGE && page->no <= last &&
		    !drop_in(o, page, start, end))
			return false;
	}
	return true;
}

/* The same within the page of @addr. */
static size_t read_page(const struct page *page, uint64_t addr, uint8_t *out, size_t len,
			uint64_t *ret_hole)
{
	const unsigned int start = (unsigned int)(addr % PAGE);
	const struct piece *p = page->pieces;
	size_t done = 0, n;

	while (p && p->end <= start)
		p = p->next;
	for (; p && done < len && p->start <= start + done; p = p->next) {
		n = p->end - (start + done);
		if (n > len - done)
			n = len - done;
		memcpy(out + done, p->bytes + (start + done - p->start), n);
		done += n;
	}
	if (!done)
		*ret_hole = (p ? p->start : (unsigned int)PAGE) - start;
	return done;
}

size_t ptc_overlay_read(const struct ptc_overlay *o, uint64_t addr, uint8_t *out, size_t len,
			uint64_t *ret_hole)
{
	uint64_t hole = 1;
	size_t done = 0, n;

	while (done < len) {
		n = read_page(slot_of(o->slots, o->nslots, addr / PAGE), addr, out + done,
			      len - done, &hole);
		done += n;
		addr += n;
		if (!n || addr % PAGE || !addr)
			break;
	}
	if (!done)
		*ret_hole = hole;
	return done;
}

struct ptc_overlay *ptc_overlay_copy(const struct ptc_overlay *o)
{
	struct ptc_overlay *c = ptc_overlay_new();
	size_t i;

	for (i = 0; c && i < o->nslots; i++) {
		const struct page *from = &o->slots[i];
		const struct piece *p;
		struct piece **at;
		struct page *to;

		if (!from->pieces)
			continue;
		to = get_page(c, from->no);
		at = to ? &to->pieces : NULL;
		for (p = from->pieces; at && p; p = p->next)
			at = insert(c, at, p->start, p->end, p->bytes) ? &(*at)->next : NULL;
		if (!at) {
			ptc_overlay_put(c);
			return NULL;
		}
	}
	return c;
}
