/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory of a process that has come to its end: of the process itself, of saved parts, or
 * of a core. The memory may be damaged. No address in it and no size in it is believed.
 */
#ifndef PTC_ARCH_MEMORY_VIEW_H
#define PTC_ARCH_MEMORY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_memory_view {
	void *ctx;
	/* Reads up to @len bytes at @addr. Returns how many bytes could be read. */
	size_t (*read)(void *ctx, uint64_t addr, void *to, size_t len);
};

/* Both return false if a byte cannot be read. *@ret is then undefined. */
bool ptc_view_read(const struct ptc_memory_view *v, uint64_t addr, void *to, size_t len);
bool ptc_view_word(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret);

/*
 * Read the string at @addr into @ret, with its NUL. @size: bytes of @ret, at least 1. *@ret_cut:
 * the string is longer. Returns false if memory ends before the string.
 */
bool ptc_view_string(const struct ptc_memory_view *v, uint64_t addr, char *ret, size_t size,
		     bool *ret_cut);

/* Returns true if a program may have data at @addr: not in the first pages, nor in the kernel. */
static inline bool ptc_is_user_address(uint64_t addr)
{
	return addr >= UINT64_C(1) << 16 && addr >> 47 == 0;
}

/* Returns true if @text has at least one byte, and no control characters but tab and newline. */
bool ptc_is_text(const char *text);

#endif
