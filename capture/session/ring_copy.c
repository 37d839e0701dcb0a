/* SPDX-License-Identifier: MIT */
#include "capture/session/ring_copy.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* Writes to each page: the kernel allocates and clears it now. */
static void touch_pages(const struct ptc_ring_copy *c)
{
	volatile uint8_t *bytes = c->bytes;
	size_t at;

	for (at = 0; at < c->cap; at += PAGE)
		bytes[at] = 0;
}

bool ptc_ring_copy_reserve(struct ptc_ring_copy *c, size_t size)
{
	void *p;

	if (size <= c->cap)
		return true;
	ptc_ring_copy_release(c);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	*c = (struct ptc_ring_copy){ .bytes = p, .cap = size };
	(void)madvise(p, size, MADV_HUGEPAGE); /* fewer faults if the kernel took the memory */
	touch_pages(c);
	ptc_ring_copy_clear(c);
	return true;
}

void ptc_ring_copy_set(struct ptc_ring_copy *c, const struct ptc_seg seg[2])
{
	assert(seg[0].len <= c->cap && seg[1].len <= c->cap - seg[0].len);
	c->len = seg[0].len + seg[1].len;
	if (seg[0].len)
		memcpy(c->bytes, seg[0].bytes, seg[0].len);
	if (seg[1].len)
		memcpy(c->bytes + seg[0].len, seg[1].bytes, seg[1].len);
}

void ptc_ring_copy_clear(struct ptc_ring_copy *c)
{
	c->len = 0;
	if (c->bytes)
		(void)madvise(c->bytes, c->cap, MADV_FREE);
}

void ptc_ring_copy_release(struct ptc_ring_copy *c)
{
	if (c->bytes)
		(void)munmap(c->bytes, c->cap);
	*c = (struct ptc_ring_copy)PTC_RING_COPY_INIT;
}
