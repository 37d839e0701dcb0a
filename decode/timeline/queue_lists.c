/* SPDX-License-Identifier: MIT */
#include "decode/timeline/queue_lists.h"

#include <stdlib.h>

#include "base/grow.h"

struct ptc_queue_link {
	size_t next, prev; /* queues of the same list; SIZE_MAX: none */
	size_t list;	   /* index into first; SIZE_MAX: in no list */
};

static const struct ptc_queue_link unlinked = { SIZE_MAX, SIZE_MAX, SIZE_MAX };

bool ptc_queue_lists_init(struct ptc_queue_lists *l, size_t nqueues)
{
	size_t i;

	l->links = calloc(nqueues ? nqueues : 1, sizeof(*l->links));
	for (i = 0; l->links && i < nqueues; i++)
		l->links[i] = unlinked;
	return l->links;
}

void ptc_queue_lists_release(struct ptc_queue_lists *l)
{
	ptc_idmap_release(&l->places);
	free(l->first);
	free(l->links);
	*l = (struct ptc_queue_lists){ .n = 0 };
}

/* Returns the index of the list of @id, which is created if needed. SIZE_MAX: out of memory. */
static size_t get_list(struct ptc_queue_lists *l, int32_t id)
{
	const size_t list = ptc_idmap_find(&l->places, id);

	if (list < SIZE_MAX)
		return list;
	if (!ptc_grow(&l->first, &l->cap, l->n + 1, sizeof(*l->first)) ||
	    !ptc_idmap_add(&l->places, id, l->n))
		return SIZE_MAX;
	l->first[l->n] = SIZE_MAX;
	return l->n++;
}

static void unlink_queue(struct ptc_queue_lists *l, size_t queue)
{
	struct ptc_queue_link *k = &l->links[queue];

	if (k->prev < SIZE_MAX)
		l->links[k->prev].next = k->next;
	else if (k->list < SIZE_MAX)
		l->first[k->list] = k->next;
	if (k->next < SIZE_MAX)
		l->links[k->next].prev = k->prev;
	*k = unlinked;
}

bool ptc_queue_lists_move(struct ptc_queue_lists *l, size_t queue, int32_t id)
{
	const size_t list = get_list(l, id);

	if (list == SIZE_MAX)
		return false;
	if (l->links[queue].list == list)
		return true;
	unlink_queue(l, queue);
	l->links[queue] = (struct ptc_queue_link){ l->first[list], SIZE_MAX, list };
	if (l->first[list] < SIZE_MAX)
		l->links[l->first[list]].prev = queue;
	l->first[list] = queue;
	return true;
}

size_t ptc_queue_lists_first(const struct ptc_queue_lists *l, int32_t id)
{
	const size_t list = ptc_idmap_find(&l->places, id);

	return list < SIZE_MAX ? l->first[list] : SIZE_MAX;
}

size_t ptc_queue_lists_next(const struct ptc_queue_lists *l, size_t queue)
{
	return l->links[queue].next;
}
