/* SPDX-License-Identifier: MIT */
/* The second engine next to libipt: what it lists of a span, one by one. Out of memory aborts. */
#ifndef PTC_TESTS_LIB_FAST_H
#define PTC_TESTS_LIB_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/engine.h"
#include "ptcap/decode.h"

struct ptc_addrspace;
struct ptc_decode;

/*
 * What is at @path: a recording, or a folder with a bare trace (pt.bin) and its code (image.map,
 * image.dump, expected.json). Says what is wrong, and exits, if it cannot be opened.
 */
struct ptc_decode *fs_load(const char *path);
/*
 * The code of its process with the most of it, as it is at the end, in @ret, which is valid as long
 * as @d. Nothing is decoded: @d is as before.
 */
void fs_code(struct ptc_decode *d, struct ptc_addrspace *ret);

/* @ctx is an address space. */
size_t fs_read_code(const void *ctx, uint64_t ip, uint8_t *out, size_t len);

struct fs_pull {
	struct ptc_fast_code *code;
	struct ptc_fast_chains chains;
	struct ptc_fast fast;
	size_t head, sure; /* of its records: [head, sure) are to be had */
	enum ptc_fast_status status;
	bool done;
};

/*
 * Of @bytes (lent), from the first PSB on, with the code of @as as it is when that is read. The
 * tables, not what is in them, are those of the last one that was closed: by one thread only.
 */
void fs_open(struct fs_pull *p, const struct ptc_addrspace *as, const uint8_t *bytes, size_t len);
void fs_close(struct fs_pull *p);

/* The next record. False: there is none; the engine came to the end, or declined. */
bool fs_next(struct fs_pull *p, struct ptc_fast_rec *ret);

/* The same of an item that libipt made. False: no engine lists it as a record. */
bool fs_of_item(const struct ptc_item *it, struct ptc_fast_rec *ret);

static inline bool fs_same(struct ptc_fast_rec a, struct ptc_fast_rec b)
{
	return a.from_kind == b.from_kind && a.to == b.to;
}

#endif
