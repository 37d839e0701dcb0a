/* SPDX-License-Identifier: MIT */
#include "capture/emu/recorded_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

enum { PAGE = 4096 };

struct ptc_queue_contexts_page {
	uint64_t addr;
	bool valid[PAGE];
	uint8_t bytes[PAGE];
};

void ptc_queue_contexts_release(struct ptc_queue_contexts *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		free(k->pages[i]);
	free(k->pages);
	*k = (struct ptc_queue_contexts){ NULL, 0, 0 };
}

/* Returns the index of the first page at or after @addr. */
static size_t lower(const struct ptc_queue_contexts *k, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, k->n, k->pages[i]->addr < addr);
}

static struct ptc_queue_contexts_page *insert(struct ptc_queue_contexts *k, size_t i)
{
	struct ptc_queue_contexts_page *p;

	if (!ptc_vec_reserve((void **)&k->pages, &k->cap, k->n + 1,
			     sizeof(struct ptc_queue_contexts_page *)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memmove(&k->pages[i + 1], &k->pages[i],
		(k->n - i) * sizeof(struct ptc_queue_contexts_page *));
	k->pages[i] = p;
	k->n++;
	return p;
}

bool ptc_queue_contexts_copy(struct ptc_queue_contexts *to, const struct ptc_queue_contexts *from)
{
	size_t i;

	ptc_queue_contexts_release(to);
	for (i = 0; i < from->n; i++) {
		struct ptc_queue_contexts_page *p = insert(to, i);

		if (!p)
			return false;
		*p = *from->pages[i];
	}
	return true;
}

static size_t in_page(uint64_t addr, size_t len)
{
	const size_t left = PAGE - (size_t)(addr % PAGE);

	return len < left ? len : left;
}

static enum ptc_queue_contexts_as look_in_page(const struct ptc_queue_contexts_page *p,
					       uint64_t addr, const uint8_t *bytes, size_t len)
{
	const size_t off = (size_t)(addr % PAGE);
	enum ptc_queue_contexts_as as = PTC_QUEUE_CONTEXTS_SAME;
	size_t i;

	for (i = 0; i < len; i++) {
		if (!p->valid[off + i])
			as = PTC_QUEUE_CONTEXTS_NOT;
		else if (p->bytes[off + i] != bytes[i])
			return PTC_QUEUE_CONTEXTS_OTHER;
	}
	return as;
}

enum ptc_queue_contexts_as ptc_queue_contexts_look(const struct ptc_queue_contexts *k,
						   uint64_t addr, const uint8_t *bytes, size_t len)
{
	enum ptc_queue_contexts_as as = PTC_QUEUE_CONTEXTS_SAME;

	while (len) {
		const uint64_t page = addr - addr % PAGE;
		const size_t i = lower(k, page), n = in_page(addr, len);
		enum ptc_queue_contexts_as part = PTC_QUEUE_CONTEXTS_NOT;

		if (i < k->n && k->pages[i]->addr == page)
			part = look_in_page(k->pages[i], addr, bytes, n);
		if (part == PTC_QUEUE_CONTEXTS_OTHER)
			return part;
		if (part == PTC_QUEUE_CONTEXTS_NOT)
			as = part;
		addr += n;
		bytes += n;
		len -= n;
	}
	return as;
}

bool ptc_queue_contexts_set(struct ptc_queue_contexts *k, uint64_t addr, const uint8_t *bytes,
			    size_t len)
{
	while (len) {
		const uint64_t page = addr - addr % PAGE;
		const size_t i = lower(k, page), n = in_page(addr, len);
		struct ptc_queue_contexts_page *p =
			i < k->n && k->pages[i]->addr == page ? k->pages[i] : insert(k, i);

		if (!p)
			return false;
		p->addr = page;
		memset(&p->valid[addr % PAGE], true, n);
		memcpy(&p->bytes[addr % PAGE], bytes, n);
		addr += n;
		bytes += n;
		len -= n;
	}
	return true;
}

void ptc_queue_contexts_drop(struct ptc_queue_contexts *k, uint64_t start, uint64_t end)
{
	size_t i, kept;

	start -= start % PAGE; /* mappings consist of whole pages */
	i = kept = lower(k, start);
	for (; i < k->n; i++) {
		if (k->pages[i]->addr < end)
			free(k->pages[i]);
		else
			k->pages[kept++] = k->pages[i];
	}
	k->n = kept;
}
