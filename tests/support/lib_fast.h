/* SPDX-License-Identifier: MIT */
/*
 * Runs the second engine next to libipt and returns its records of a span one by one. Out of memory
 * aborts.
 */
#ifndef PTC_TESTS_LIB_FAST_H
#define PTC_TESTS_LIB_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/engine.h"
#include "ptcap/decode.h"

struct ptc_addrspace;
struct ptc_decode;

/*
 * Opens @path: a recording, or a folder with a bare trace (pt.bin) and its code (image.map,
 * image.dump, expected.json). On failure prints an error and exits.
 */
struct ptc_decode *fs_load(const char *path);
/*
 * Returns the final code of the process with the most code in @ret, valid as long as @d. Decodes
 * nothing and leaves @d unchanged.
 */
void fs_code(struct ptc_decode *d, struct ptc_addrspace *ret);

/* @ctx is an address space. */
size_t fs_read_code(const void *ctx, uint64_t ip, uint8_t *out, size_t len);

struct fs_pull {
	struct ptc_fast_code *code;
	struct ptc_fast_chains chains;
	struct ptc_fast fast;
	size_t head, sure; /* record range [head, sure) is available */
	enum ptc_fast_status status;
	bool done;
};

/*
 * Starts at the first PSB of @bytes (borrowed), with the code of @as at the time of reading. Reuses
 * the memory of the tables of the last closed pull: for one thread only.
 */
void fs_open(struct fs_pull *p, const struct ptc_addrspace *as, const uint8_t *bytes, size_t len);
void fs_close(struct fs_pull *p);

/* Returns the next record. False: the engine reached the end, or declined. */
bool fs_next(struct fs_pull *p, struct ptc_fast_rec *ret);

/* Makes the same record from an item of libipt. False: no engine lists the item as a record. */
bool fs_of_item(const struct ptc_item *it, struct ptc_fast_rec *ret);

static inline bool fs_same(struct ptc_fast_rec a, struct ptc_fast_rec b)
{
	return a.from_kind == b.from_kind && a.to == b.to;
}

#endif
