/* SPDX-License-Identifier: MIT */
#include "decode/made.h"

#include <stdlib.h>

#include "decode/grow.h"
#include "decode/psb.h"

/*
 * How much memory of all pieces of a list is worth keeping. With PSBs that are far apart one piece
 * may need half of it, and to get that from the system each time costs as much as to fill it.
 */
enum { KEEP_BYTES = 4 << 20 };

const char *ptc_made_look(const struct ptc_span *sp, size_t from, size_t next,
			  struct ptc_made_copy *copy, struct ptc_made_view *ret)
{
	size_t upto = next + 2 * (size_t)PTC_PSB_PLUS_MAX, len;
	const uint8_t *bytes = ptc_span_run(sp, from, &len);

	upto = upto < sp->len ? upto : sp->len;
	if (upto - from > PTC_PIECE_MAX)
		return "a piece that is too long";
	if (len < upto - from) {
		if (!copy->bytes)
			copy->bytes = malloc(PTC_PIECE_MAX);
		if (!copy->bytes)
			return "out of memory";
		ptc_span_read(sp, from, copy->bytes, upto - from);
		bytes = copy->bytes;
	}
	*ret = (struct ptc_made_view){ bytes, from, upto - from, upto == sp->len };
	return NULL;
}

void ptc_made_copy_release(struct ptc_made_copy *copy)
{
	free(copy->bytes);
	copy->bytes = NULL;
}

void ptc_made_release(struct ptc_made *m)
{
	free(m->recs);
	free(m->marks);
	*m = (struct ptc_made){ .n = 0 };
}

void ptc_made_list_release(struct ptc_made_list *l)
{
	while (l->used)
		ptc_made_release(&l->v[--l->used]);
	free(l->v);
	*l = (struct ptc_made_list){ .n = 0 };
}

static size_t bytes_of(const struct ptc_made *m)
{
	return m->cap * sizeof(*m->recs) + m->marks_cap * sizeof(*m->marks);
}

void ptc_made_list_renew(struct ptc_made_list *l)
{
	size_t i, bytes = 0;

	for (i = 0; i < l->used; i++) {
		bytes += bytes_of(&l->v[i]);
		if (bytes <= KEEP_BYTES)
			continue;
		bytes -= bytes_of(&l->v[i]);
		ptc_made_release(&l->v[i]);
	}
	l->n = l->next = 0;
}

struct ptc_made *ptc_made_list_add(struct ptc_made_list *l)
{
	if (!ptc_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return NULL;
	if (l->n == l->used)
		l->v[l->used++] = (struct ptc_made){ .n = 0 };
	return &l->v[l->n++];
}

struct ptc_made *ptc_made_list_take(struct ptc_made_list *l, struct ptc_spot spot)
{
	while (l->next < l->n && ptc_spot_is_before(l->v[l->next].spot, spot))
		l->next++;
	if (l->next == l->n || ptc_spot_is_before(spot, l->v[l->next].spot))
		return NULL;
	return &l->v[l->next++];
}
