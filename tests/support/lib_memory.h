/* SPDX-License-Identifier: MIT */
/* Memory of a process for tests of its readers: parts that end where their allocations end. */
#ifndef PTC_TESTS_LIB_MEMORY_H
#define PTC_TESTS_LIB_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "arch/memory_view.h"

enum { MM_PARTS = 64 };

/* Starts zeroed. */
struct mm_memory {
	struct {
		uint64_t addr;
		uint8_t *bytes; /* owned */
		size_t len;
	} parts[MM_PARTS];
	size_t n;
	size_t reads; /* calls of mm_read */
};

/* As the read of struct ptc_memory_view; @ctx: a struct mm_memory. */
size_t mm_read(void *ctx, uint64_t addr, void *to, size_t len);
struct ptc_memory_view mm_view(struct mm_memory *m);

/* Add a part. */
void mm_add(struct mm_memory *m, uint64_t addr, const void *bytes, size_t len);
void mm_words(struct mm_memory *m, uint64_t addr, const uint64_t *of, size_t n);

/* Cut part @i to @len bytes, at the end of an allocation of that size. */
void mm_cut(struct mm_memory *m, size_t i, size_t len);

void mm_release(struct mm_memory *m);

#endif
