/* SPDX-License-Identifier: MIT */
/*
 * What the second engine knows of code: one cache of blocks and chains for each process that it
 * met; one that was forked has its parent's, until the code of one of the two changes. A change of
 * some code drops what was made of that, and nothing else. Those that were not used for longest go
 * when there are too many, or all have too much memory.
 */
#ifndef PTC_DECODE_PIECE_CODE_H
#define PTC_DECODE_PIECE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/chain.h"

struct ptc_addrspace;

/* Caches, at most; and what all of them may have, in bytes, when a piece begins: it can only add to
 * its own, which by itself is smaller than that. */
enum { PTC_PIECE_CODES = 64 };
#define PTC_PIECE_CODE_BYTES ((size_t)250 << 20)

/*
 * Views count a kernel's changes ahead of their time, by themselves: that one and the kernel as it
 * is now, each has versions of its own.
 */
enum ptc_piece_kernel { PTC_PIECE_NO_KERNEL, PTC_PIECE_KERNEL_NOW, PTC_PIECE_KERNEL_VIEW };

struct ptc_piece_code {
	struct ptc_fast_code code;
	struct ptc_fast_chains chains;
	int32_t pid;			  /* whose it is, */
	enum ptc_piece_kernel kernel;	  /* with what behind it */
	uint64_t state;			  /* see struct ptc_addrspace */
	uint64_t version, kernel_version; /* the same, as pid and its kernel count */
	uint64_t used;			  /* when, in uses */
};

/* Zeroed: none. */
struct ptc_piece_codes {
	struct ptc_piece_code *codes[PTC_PIECE_CODES]; /* owned */
	size_t n;
	uint64_t uses;
	unsigned int halved; /* so often, what is said above of memory is */
};

void ptc_piece_codes_release(struct ptc_piece_codes *c);

/*
 * The one of @pid with the code of @as (lent until the next use), which is its address space or a
 * view of that; NULL: out of memory.
 */
struct ptc_piece_code *ptc_piece_codes_use(struct ptc_piece_codes *c,
					   const struct ptc_addrspace *as, int32_t pid);

/* May there be code of [start, end) in it? Or nobody knows, as there is none. */
bool ptc_piece_codes_know(const struct ptc_piece_codes *c, const struct ptc_addrspace *as,
			  int32_t pid, uint64_t start, uint64_t end);

#endif
