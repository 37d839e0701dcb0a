/* SPDX-License-Identifier: MIT */
/*
 * Code that is not, or no longer, what the mapped files say: the bytes of
 * TEXT_POKE records. They are not copied: memory grows with the number of
 * records, never with their addresses.
 */
#ifndef PTC_DECODE_OVERLAY_H
#define PTC_DECODE_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_overlay;

/* With one owner. NULL: out of memory. */
struct ptc_overlay *ptc_overlay_new(void);
/* One more owner, and one less: with the last it goes. Who is not alone must not change it. */
struct ptc_overlay *ptc_overlay_get(struct ptc_overlay *o);
void ptc_overlay_put(struct ptc_overlay *o);
bool ptc_overlay_shared(const struct ptc_overlay *o);

/* A copy of its own, but for the bytes; NULL: out of memory. */
struct ptc_overlay *ptc_overlay_copy(const struct ptc_overlay *o);

/* Pieces in it: what a copy costs. */
size_t ptc_overlay_size(const struct ptc_overlay *o);

/*
 * [addr, addr + len) holds @bytes (lent: they must outlive @o and its copies)
 * from now on. What would be behind the last address is ignored. False: out of
 * memory; some of the bytes may then be there.
 */
bool ptc_overlay_patch(struct ptc_overlay *o, uint64_t addr, const uint8_t *bytes, size_t len);

/* Forget what is in [start, end). False: out of memory. */
bool ptc_overlay_drop(struct ptc_overlay *o, uint64_t start, uint64_t end);

/*
 * Copy up to @len bytes from @addr on, as far as they are here without a hole.
 * Returns how many; if 0, *@ret_hole is how far from @addr on nothing is here,
 * for certain (at least 1).
 */
size_t ptc_overlay_read(const struct ptc_overlay *o, uint64_t addr, uint8_t *out, size_t len,
			uint64_t *ret_hole);

#endif
