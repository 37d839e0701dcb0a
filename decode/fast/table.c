/* SPDX-License-Identifier: MIT */
#include "decode/fast/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, FIRST = 16 };

static bool is_big(size_t bytes)
{
	return bytes >= PTC_FAST_ROOM_MIN;
}

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static void *get_small(size_t bytes)
{
	return aligned_alloc(LINE, round_up(bytes, LINE));
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
	(void)madvise(p, len, MADV_HUGEPAGE); /* without, it is slower */
	if (ptc_fast_room_grow(p, bytes))
		return p;
	ptc_fast_room_free(p, max);
	return NULL;
}

bool ptc_fast_room_grow(void *room, size_t bytes)
{
	return !mprotect(room, round_up(bytes, PTC_FAST_ROOM_MIN), PROT_READ | PROT_WRITE);
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
	p = get_small(bytes);
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

/* @old of @was bytes, with room for @bytes. NULL: out of memory, and it is as it was. */
static void *enlarge(void *old, size_t was, size_t bytes, size_t max)
{
	void *p;

	if (is_big(was))
		return ptc_fast_room_grow(old, bytes) ? old : NULL;
	p = is_big(bytes) ? ptc_fast_room_new(bytes, max) : get_small(bytes);
	if (!p)
		return NULL;
	if (was)
		memcpy(p, old, was);
	free(old);
	return p;
}

bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size, size_t max)
{
	size_t n = *cap ? *cap : FIRST;
	void *p;

	if (want <= *cap)
		return true;
	if (want > max || max > SIZE_MAX / 2 / size)
		return false;
	while (n < want)
		n *= 2;
	n = n < max ? n : max;
	memcpy(&p, items, sizeof(p));
	p = enlarge(p, *cap * size, n * size, max * size);
	if (!p)
		return false;
	memcpy(items, &p, sizeof(p));
	*cap = n;
	return true;
}

void ptc_fast_table_drop(void *items, size_t cap, size_t size, size_t max)
{
	if (is_big(cap * size))
		ptc_fast_room_free(items, max * size);
	else
		free(items);
}
