/* SPDX-License-Identifier: MIT */
#include "decode/engine/huge_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { LINE = 64, PAGE = 4096 };

static bool is_big(size_t bytes)
{
	return bytes >= PTC_FAST_ROOM_MIN;
}

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* Small ones use small pages. */
static size_t room_bytes(size_t bytes)
{
	return round_up(bytes, bytes < PTC_FAST_ROOM_MIN ? PAGE : PTC_FAST_ROOM_MIN);
}

void *ptc_fast_room_new(size_t bytes, size_t max)
{
	const size_t align = PTC_FAST_ROOM_MIN, len = round_up(max, align);
	size_t head;
	char *p;

	if (max > SIZE_MAX / 2)
		return NULL;
	p = mmap(NULL, len + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	head = (align - (uintptr_t)p % align) % align;
	if (head)
		(void)munmap(p, head);
	if (align - head)
		(void)munmap(p + head + len, align - head);
	p += head;
	(void)madvise(p, len, MADV_HUGEPAGE); /* without large pages it is slower */
	if (ptc_fast_room_grow(p, bytes))
		return p;
	ptc_fast_room_free(p, max);
	return NULL;
}

bool ptc_fast_room_grow(void *room, size_t bytes)
{
	return !mprotect(room, room_bytes(bytes), PROT_READ | PROT_WRITE);
}

void ptc_fast_room_free(void *room, size_t max)
{
	if (room)
		(void)munmap(room, round_up(max, PTC_FAST_ROOM_MIN));
}

void *ptc_fast_table_new(size_t bytes)
{
	void *p;

	if (is_big(bytes))
		return ptc_fast_room_new(bytes, bytes);
	p = aligned_alloc(LINE, round_up(bytes, LINE));
	if (p)
		memset(p, 0, bytes);
	return p;
}

void ptc_fast_table_free(void *p, size_t bytes)
{
	if (is_big(bytes))
		ptc_fast_room_free(p, bytes);
	else
		free(p);
}

/*
 * The first large page was many small pages until now. If the kernel cannot join them, they stay.
 */
static void join_pages(void *room, size_t was, size_t bytes)
{
	if (!is_big(was) && is_big(bytes))
		(void)madvise(room, PTC_FAST_ROOM_MIN, MADV_COLLAPSE);
}

/* Double @n until it is enough, at most @max. */
static size_t enough(size_t n, size_t want, size_t max)
{
	while (n < want)
		n *= 2;
	return n < max ? n : max;
}

bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size, size_t max)
{
	size_t n;
	void *p;

	if (want <= *cap)
		return true;
	if (want > max || max > SIZE_MAX / 2 / size || size > PAGE)
		return false;
	n = enough(*cap ? *cap : PAGE / size, want, max);
	memcpy(&p, items, sizeof(p));
	if (!*cap) {
		p = ptc_fast_room_new(n * size, max * size);
		if (!p)
			return false;
		memcpy(items, &p, sizeof(p));
	} else if (!ptc_fast_room_grow(p, n * size)) {
		return false;
	}
	join_pages(p, *cap * size, n * size);
	*cap = n;
	return true;
}

void ptc_fast_table_drop(void *items, size_t cap, size_t size, size_t max)
{
	if (cap)
		ptc_fast_room_free(items, max * size);
}
