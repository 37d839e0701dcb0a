// SPDX-License-Identifier: GPL-2.0
/* softpt: the buffer, with the logic of the PT driver's start, stop and interrupt. */
#include "softpt.h"
#include <linux/module.h>
#include <linux/slab.h>

static unsigned int pmi_skid; /* steps between "region full" and the interrupt */
module_param(pmi_skid, uint, 0644);
static unsigned long pmis; /* buffer interrupts */
module_param(pmis, ulong, 0644);
static unsigned long full_stops; /* how often the hard end of a buffer was hit */
module_param(full_stops, ulong, 0644);

static u64 region_size(struct buf *b, u32 first)
{
	struct page *p = virt_to_page(b->area.page[first]);

	return PAGE_SIZE << (PagePrivate(p) ? page_private(p) : 0);
}

/* Returns the end of the region before the region of this page, at or after u->pos. */
static u64 end_before(struct unit *u, struct buf *b, u64 page)
{
	u64 at = page & ((b->area.size >> PAGE_SHIFT) - 1);

	at = ((page - at) + b->first[at]) << PAGE_SHIFT;
	return at > u->pos ? at : at + b->area.size;
}

/*
 * Puts the marks where pt_buffer_reset_markers() of Linux 6.1 puts STOP and INT, including its
 * rounding. It counts pages from the head's page, and a mark is on the region before the page
 * found. So with less than a page free across a page's end, STOP is behind the head: unread data is
 * overwritten.
 */
static int set_marks(struct unit *u, struct buf *b)
{
	struct perf_output_handle *h = &u->handle;
	u64 head = h->head >> PAGE_SHIFT, pages = h->size >> PAGE_SHIFT;
	u32 first = b->first[head & ((b->area.size >> PAGE_SHIFT) - 1)];
	u64 region = region_size(b, first);

	if ((h->head & (region - 1)) + h->size + 1 < region) {
		perf_aux_output_flag(h, PERF_AUX_FLAG_TRUNCATED);
		return -EINVAL;
	}
	if (!((h->head + h->size + 1) & ~PAGE_MASK))
		pages++;
	u->limit = end_before(u, b, head + pages);
	/* The reader's watermark, but at least a page before the STOP. */
	u->intr = end_before(u, b, min_t(u64, head + pages - 1, h->wakeup >> PAGE_SHIFT));
	u->intr = min(u->intr, u->limit); /* STOP interrupts as well */
	return 0;
}

int get_space(struct unit *u, struct perf_event *event)
{
	struct buf *b = perf_aux_output_begin(&u->handle, event);

	if (!b)
		return -ENOSPC;
	u->pos = u->begin = u->handle.head;
	u->full = false;
	u->skid = 0;
	if (!b->area.snapshot && set_marks(u, b)) {
		perf_aux_output_end(&u->handle, 0);
		return -ENOSPC;
	}
	return 0;
}

void give_space(struct unit *u)
{
	struct buf *b = perf_get_aux(&u->handle);

	if (u->full) { /* even if no byte was lost */
		perf_aux_output_flag(&u->handle, PERF_AUX_FLAG_TRUNCATED);
		u->last_ip = NO_IP; /* do not compress with dropped IPs */
		full_stops++;
	}
	area_end(&b->area, &u->handle, u->begin, u->pos);
}

/* Returns true if the buffer interrupt is due. In snapshot mode it never is. */
bool pmi_due(struct unit *u)
{
	struct buf *b = perf_get_aux(&u->handle);

	if (b->area.snapshot || u->pos < u->intr || (!u->full && u->skid++ < pmi_skid))
		return false;
	pmis++;
	return true;
}

void *setup_aux(struct perf_event *event, void **pages, int n, bool snapshot)
{
	struct buf *b;
	int i, end;

	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return NULL;
	if (area_init(&b->area, event, pages, n, snapshot))
		b->first = kvmalloc_array(n, sizeof(*b->first), GFP_KERNEL);
	if (!b->first) {
		kfree(b);
		return NULL;
	}
	for (i = 0; i < n;) {
		u32 first = i;

		for (end = i + (region_size(b, i) >> PAGE_SHIFT); i < end && i < n; i++)
			b->first[i] = first;
	}
	return b;
}

void free_aux(void *aux)
{
	struct buf *b = aux;

	kvfree(b->first);
	kfree(b);
}
