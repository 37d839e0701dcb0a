/* SPDX-License-Identifier: MIT */
#include "decode/engine/thread_arena.h"

#include <stdlib.h>
#include <string.h>

#include "decode/engine/block.h"
#include "decode/engine/huge_table.h"

/*
 * For each list: size of an element, limit, elements that an arena takes at a time, and elements
 * that may be read behind the end. Together with chains it is less than 250 MB. Usually blocks and
 * records reach their limits first.
 */
static const struct {
	size_t size, max, part, behind;
} lists[PTC_FAST_LISTS] = {
	[PTC_FAST_LIST_BLOCKS] = { sizeof(struct ptc_fast_block), (size_t)1 << 20, 64, 0 },
	[PTC_FAST_LIST_RECS] = { sizeof(struct ptc_fast_rec), (size_t)1 << 23, 1024, 4 },
	[PTC_FAST_LIST_PUSHES] = { sizeof(uint32_t), (size_t)1 << 23, 1024, 0 },
	[PTC_FAST_LIST_LENS] = { 1, (size_t)1 << 25, 4096, 0 },
	/* Includes the links of blocks that were built again. */
	[PTC_FAST_LIST_LINKS] = { 0, (size_t)1 << 21, 256, 0 },
};

/* Returns the address of the list's pointer in the code. */
static void *list_pointer_addr(struct ptc_fast_code *c, size_t l)
{
	void *const places[] = { &c->blocks, &c->recs, &c->pushes, &c->lens };

	return places[l];
}

static size_t room_max(size_t l)
{
	return lists[l].max + lists[l].behind;
}

size_t ptc_fast_list_max(const struct ptc_fast_code *c, enum ptc_fast_list l)
{
	return lists[l].max >> c->halved;
}

static bool grow_code_list(struct ptc_fast_code *c, size_t l, size_t want)
{
	const size_t size = lists[l].size, was = c->cap[l];

	if (!size)
		return true;
	if (!ptc_fast_table_grow(list_pointer_addr(c, l), &c->cap[l], want + lists[l].behind, size,
				 room_max(l)))
		return false;
	ptc_fast_code_count_bytes(c, was * size, c->cap[l] * size);
	return true;
}

bool ptc_fast_lists_init(struct ptc_fast_code *c)
{
	size_t l;

	for (l = 0; l < PTC_FAST_LISTS; l++)
		if (!grow_code_list(c, l, 1))
			return false;
	return true;
}

void ptc_fast_lists_release(struct ptc_fast_code *c)
{
	void *p;
	size_t l;

	for (l = 0; l < PTC_FAST_LISTS; l++) {
		if (!lists[l].size)
			continue;
		memcpy(&p, list_pointer_addr(c, l), sizeof(p));
		ptc_fast_table_drop(p, c->cap[l], lists[l].size, room_max(l));
	}
}

struct ptc_fast_hand *ptc_fast_hand_new(struct ptc_fast_code *c,
					const struct ptc_fast_source *source)
{
	struct ptc_fast_hand *h = calloc(1, sizeof(*h));
	const size_t tips = (size_t)1 << PTC_FAST_TIPS_BITS;

	if (!h)
		return NULL;
	*h = (struct ptc_fast_hand){ .code = c, .source = *source };
	h->tips = calloc(tips, sizeof(*h->tips));
	if (!h->tips) {
		free(h);
		return NULL;
	}
	(void)pthread_mutex_init(&h->lock, NULL);
	ptc_fast_code_count_bytes(c, 0, tips * sizeof(*h->tips));
	ptc_fast_code_lock(c);
	h->next = c->hands;
	ptc_fast_publish(&c->hands, h);
	ptc_fast_code_unlock(c);
	return h;
}

void ptc_fast_hands_release(struct ptc_fast_code *c)
{
	struct ptc_fast_hand *h;

	while (c->hands) {
		h = c->hands;
		c->hands = h->next;
		free(h->tips);
		ptc_fast_pages_release(&h->pages);
		(void)pthread_mutex_destroy(&h->lock);
		free(h);
	}
}

void ptc_fast_hands_forget(struct ptc_fast_code *c)
{
	struct ptc_fast_hand *h;

	for (h = c->hands; h; h = h->next) {
		memset(h->tips, 0, sizeof(*h->tips) << PTC_FAST_TIPS_BITS);
		memset(h->parts, 0, sizeof(h->parts));
		ptc_fast_pages_forget(&h->pages);
	}
}

/* Set the hint `full` if most of the limit is in use. */
static void update_full_hint(struct ptc_fast_code *c, size_t l)
{
	if (c->used[l] > (lists[l].max >> c->halved) / 4 * 3)
		ptc_fast_put_hint(&c->full, true);
}

static bool has_room_in_part(const struct ptc_fast_part *p, size_t n, size_t max)
{
	return p->end - p->at >= n && p->end <= max;
}

bool ptc_fast_hand_take(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max)
{
	struct ptc_fast_part *p = &h->parts[l];
	struct ptc_fast_code *c = h->code;
	/* The rest of the old part is lost, unless the new part is just behind it. */
	const size_t from = p->end == c->used[l] ? p->at : c->used[l];
	size_t to = c->used[l] + lists[l].part;

	if (has_room_in_part(p, n, max))
		return true;
	if (to < from + n)
		to = from + n;
	if (to > max)
		to = max;
	if (to < from + n || !grow_code_list(c, l, to))
		return false;
	*p = (struct ptc_fast_part){ from, to };
	c->used[l] = to;
	update_full_hint(c, l);
	return true;
}

bool ptc_fast_hand_reserve(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max)
{
	bool ok = true;

	if (!has_room_in_part(&h->parts[l], n, max)) {
		ptc_fast_code_lock(h->code);
		ok = ptc_fast_hand_take(h, l, n, max);
		ptc_fast_code_unlock(h->code);
	}
	return ok;
}
