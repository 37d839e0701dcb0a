/* SPDX-License-Identifier: MIT */
/* Description: packed files are unpacked as far as the memory budget allows. */
#include <criterion/criterion.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/budget.h"
#include "decode/elf/decompress.h"
#include "ptcap/memory.h"

enum { MANY = 8 << 20, PACKED = 1 << 20 };

/* Packs @len zeros. Returns the number of bytes in @out. */
typedef size_t pack_fn(uint8_t *out, size_t len);

static size_t pack_gzip(uint8_t *out, size_t len)
{
	uint8_t *zeros = calloc(1, len);
	z_stream z = { .next_in = zeros, .avail_in = (uInt)len, .avail_out = PACKED };

	z.next_out = out;
	cr_assert_eq(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	cr_assert_eq(deflateEnd(&z), Z_OK);
	free(zeros);
	return PACKED - z.avail_out;
}

static size_t pack_xz(uint8_t *out, size_t len)
{
	uint8_t *zeros = calloc(1, len);
	size_t n = 0;

	cr_assert_eq(
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, len, out, &n, PACKED),
		LZMA_OK);
	free(zeros);
	return n;
}

static size_t pack_zstd(uint8_t *out, size_t len)
{
	uint8_t *zeros = calloc(1, len);
	const size_t n = ZSTD_compress(out, PACKED, zeros, len, 1);

	cr_assert(!ZSTD_isError(n));
	free(zeros);
	return n;
}

static pack_fn *const sorts[] = { pack_gzip, pack_xz, pack_zstd };
enum { SORTS = sizeof(sorts) / sizeof(sorts[0]) };

static void leave(uint64_t n)
{
	ptc_memory_set_limit((uint64_t)1 << 40);
	ptc_memory_set_limit(((uint64_t)1 << 40) - ptc_budget_left() + n);
}

Test(decompress, what_there_is_room_for_is_unpacked_and_counts)
{
	uint8_t *packed = malloc(PACKED);
	struct ptc_unpacked u;
	size_t i;

	for (i = 0; i < SORTS; i++) {
		const size_t n = sorts[i](packed, MANY);

		leave((uint64_t)2 * MANY);
		cr_assert(ptc_unpack_bytes(packed, n, &u), "%zu", i);
		cr_assert(u.len == MANY && lseek(u.fd, 0, SEEK_END) == MANY, "%zu", i);
		cr_assert(!ptc_budget_allows(MANY + 1), "%zu", i);
		ptc_unpacked_release(&u);
		cr_assert(ptc_budget_allows(MANY + 1), "%zu", i);
	}
	free(packed);
}

Test(decompress, what_there_is_no_room_for_is_too_large)
{
	uint8_t *packed = malloc(PACKED);
	struct ptc_unpacked u;
	uint64_t left;
	size_t i;

	for (i = 0; i < SORTS; i++) {
		const size_t n = sorts[i](packed, MANY);

		leave(MANY / 2);
		left = ptc_budget_left();
		cr_assert(!ptc_unpack_bytes(packed, n, &u), "%zu", i);
		cr_assert(u.too_large && u.fd == -1 && !u.len, "%zu", i);
		cr_assert(ptc_budget_left() > left - MANY / 8, "%zu", i);
	}
	free(packed);
}

Test(decompress, several_behind_each_other_are_one)
{
	uint8_t *packed = malloc(PACKED);
	struct ptc_unpacked u;
	size_t i, n;

	for (i = 0; i < SORTS; i++) {
		n = sorts[i](packed, 1000);
		memcpy(packed + n, packed, n);
		cr_assert(ptc_unpack_bytes(packed, 2 * n, &u), "%zu", i);
		cr_assert_eq(u.len, 2000, "%zu", i);
		ptc_unpacked_release(&u);
	}
	free(packed);
}

Test(decompress, what_is_cut_is_nothing)
{
	uint8_t *packed = malloc(PACKED), *cut;
	struct ptc_unpacked u;
	size_t i, k, n;

	for (i = 0; i < SORTS; i++) {
		n = sorts[i](packed, 100000);
		for (k = 0; k < n; k++) {
			cut = malloc(k);
			cr_assert(k == 0 || cut);
			if (k)
				memcpy(cut, packed, k);
			cr_assert(!ptc_unpack_bytes(cut, k, &u), "%zu: %zu", i, k);
			cr_assert(u.fd == -1 && !u.too_large, "%zu: %zu", i, k);
			free(cut);
		}
	}
	free(packed);
}

Test(decompress, other_bytes_are_not_packed)
{
	static const uint8_t bzip2[] = "BZh91AY&SY";
	struct ptc_unpacked u;

	cr_assert(!ptc_unpack_bytes(bzip2, sizeof(bzip2), &u));
	cr_assert(u.fd == -1 && !u.too_large);
}
