/* SPDX-License-Identifier: MIT */
#include "capture/snapshot/ring_reach.h"

#include <string.h>

void ptc_horizon_init(struct ptc_horizon *h, uint64_t size, uint64_t head)
{
	*h = (struct ptc_horizon){ .size = size, .made = head % size };
}

/* Drops the stops whose trace has been overwritten, and moves reach to the last of them. */
static void drop_overwritten_stops(struct ptc_horizon *h)
{
	size_t k = 0;

	while (k < h->n && h->made - h->stops[k].made >= h->size)
		h->reach = h->stops[k++].time;
	h->n -= k;
	memmove(h->stops, h->stops + k, h->n * sizeof(*h->stops));
}

void ptc_horizon_stop(struct ptc_horizon *h, uint64_t time, uint64_t head)
{
	const uint64_t step = h->size / PTC_HORIZON_STEPS;

	h->made += (head + h->size - h->made % h->size) % h->size;
	drop_overwritten_stops(h);
	/* No trace was written since the last stop: update only its time. */
	if (h->n && h->stops[h->n - 1].made == h->made)
		h->stops[h->n - 1].time = time;
	else if (!h->n || h->made - h->stops[h->n - 1].made >= step)
		h->stops[h->n++] = (struct ptc_horizon_stop){ time, h->made };
}
