/* SPDX-License-Identifier: MIT */
#include "decode/segment/segment_result.h"

#include <stdlib.h>

#include "base/grow.h"
#include "decode/stream/psb.h"

/*
 * Bytes of a list, for records and for marks, that are worth keeping. If PSBs are far apart, one
 * segment may need half of them. To get that from the system each time costs as much as to fill it.
 * KEEP_ITEMS: the same for the items of libipt, which take four times as much as a record.
 */
enum { KEEP_BYTES = 4 << 20, KEEP_ITEMS = 16 << 20 };

/* Bytes behind the segment. A second of MTC packets has some thousands. */
enum { NEAR_BEHIND = 2 * PTC_PSB_PLUS_MAX, FAR_BEHIND = 32 << 10 };

const char *ptc_result_look(const struct ptc_span *sp, size_t from, size_t next, bool far,
			    struct ptc_result_copy *copy, struct ptc_result_view *ret)
{
	size_t upto = next + (far ? (size_t)FAR_BEHIND : (size_t)NEAR_BEHIND), len;
	const uint8_t *bytes = ptc_span_run(sp, from, &len);

	upto = upto < sp->len ? upto : sp->len;
	if (upto - from > PTC_SEGMENT_MAX)
		return "a piece that is too long";
	if (len < upto - from) {
		if (!copy->bytes)
			copy->bytes = malloc(PTC_SEGMENT_MAX);
		if (!copy->bytes)
			return "out of memory";
		ptc_span_read(sp, from, copy->bytes, upto - from);
		bytes = copy->bytes;
	}
	*ret = (struct ptc_result_view){ bytes, from, upto - from, upto == sp->len };
	return NULL;
}

void ptc_result_copy_release(struct ptc_result_copy *copy)
{
	free(copy->bytes);
	copy->bytes = NULL;
}

void ptc_result_room_release(struct ptc_result_room *room)
{
	free(room->recs);
	free(room->marks);
	free(room->items);
	free(room->steps);
	*room = (struct ptc_result_room){ .nrecs = 0 };
}

static void release_notes(struct ptc_result_list *l)
{
	for (; l->n; l->n--) {
		struct ptc_notes *notes = l->v[l->n - 1].notes;

		if (notes)
			ptc_notes_release(notes);
		free(notes);
	}
}

void ptc_result_list_release(struct ptc_result_list *l)
{
	release_notes(l);
	ptc_result_room_release(&l->room);
	free(l->v);
	*l = (struct ptc_result_list){ .n = 0 };
}

/*
 * Separate limits: arrays grow to powers of two, and a few marks must not cost a full array of
 * records.
 */
static bool is_much(const struct ptc_result_room *room)
{
	return room->recs_cap * sizeof(*room->recs) > KEEP_BYTES ||
	       room->marks_cap * sizeof(*room->marks) > KEEP_BYTES ||
	       room->items_cap * sizeof(*room->items) > KEEP_ITEMS ||
	       room->steps_cap * sizeof(*room->steps) > KEEP_BYTES;
}

void ptc_result_list_renew(struct ptc_result_list *l)
{
	release_notes(l);
	if (is_much(&l->room))
		ptc_result_room_release(&l->room);
	l->room.nrecs = l->room.nmarks = l->room.nitems = l->room.nsteps = 0;
	l->n = l->next = l->taken = 0;
}

struct ptc_result *ptc_result_list_add(struct ptc_result_list *l)
{
	if (!ptc_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	l->v[l->n] = (struct ptc_result){ .n = 0 };
	return &l->v[l->n++];
}

void ptc_result_list_drop(struct ptc_result_list *l)
{
	l->n--;
}

struct ptc_result *ptc_result_list_find(struct ptc_result_list *l, struct ptc_spot spot)
{
	while (l->next < l->n && ptc_spot_is_before(l->v[l->next].spot, spot))
		l->next++;
	if (l->next == l->n || ptc_spot_is_before(spot, l->v[l->next].spot))
		return NULL;
	return &l->v[l->next];
}

struct ptc_result *ptc_result_list_take(struct ptc_result_list *l, struct ptc_spot spot)
{
	struct ptc_result *m = ptc_result_list_find(l, spot);

	l->next += m != NULL;
	return m;
}
