/* SPDX-License-Identifier: MIT */
#include "lib_memory.h"

#include <stdlib.h>
#include <string.h>

size_t mm_read(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct mm_memory *m = ctx;
	size_t i, n;

	m->reads++;
	for (i = 0; i < m->n; i++) {
		if (addr < m->parts[i].addr || addr - m->parts[i].addr >= m->parts[i].len)
			continue;
		n = m->parts[i].len - (size_t)(addr - m->parts[i].addr);
		n = n < len ? n : len;
		memcpy(to, m->parts[i].bytes + (addr - m->parts[i].addr), n);
		return n;
	}
	return 0;
}

struct ptc_memory_view mm_view(struct mm_memory *m)
{
	return (struct ptc_memory_view){ m, mm_read };
}

static uint8_t *copy_of(const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	return copy;
}

void mm_add(struct mm_memory *m, uint64_t addr, const void *bytes, size_t len)
{
	if (m->n == MM_PARTS)
		abort();
	m->parts[m->n].addr = addr;
	m->parts[m->n].bytes = copy_of(bytes, len);
	m->parts[m->n++].len = len;
}

void mm_words(struct mm_memory *m, uint64_t addr, const uint64_t *of, size_t n)
{
	mm_add(m, addr, of, n * sizeof(*of));
}

void mm_cut(struct mm_memory *m, size_t i, size_t len)
{
	uint8_t *copy = copy_of(m->parts[i].bytes, len);

	free(m->parts[i].bytes);
	m->parts[i].bytes = copy;
	m->parts[i].len = len;
}

void mm_release(struct mm_memory *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->parts[i].bytes);
	m->n = 0;
}
