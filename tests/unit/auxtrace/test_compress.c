/* SPDX-License-Identifier: MIT */
/* Description: libzstd's own stream decoder restores the bytes from the compressed records. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "auxtrace/record/layout.h"
#include "auxtrace/record/record.h"
#include "auxtrace/writer/compress.h"

enum { BIG = 300001 };

/* Decompresses one record in a single call, as perf does. */
static size_t inflate(ZSTD_DCtx *z, const void *rec, size_t len, void *to, size_t room)
{
	struct ptc_cur c = ptc_cur_init(rec, len);
	struct ptc_err err;
	struct ptc_rec r;
	ZSTD_inBuffer in;
	ZSTD_outBuffer out = { to, room, 0 };

	cr_assert_eq(ptc_rec_next(&c, 0, &r, &err), 1);
	cr_assert(r.type == PTC_REC_COMPRESSED && !r.misc && !ptc_cur_left(&c));
	in = (ZSTD_inBuffer){ r.body.pos, ptc_cur_left(&r.body), 0 };
	cr_assert(!ZSTD_isError(ZSTD_decompressStream(z, &out, &in)));
	cr_assert_eq(in.pos, in.size);
	cr_assert(out.pos > 0 && out.pos <= PTC_COMPRESS_PIECE);
	return out.pos;
}

/* Compresses @step bytes at a time, then compares the decompressed bytes. */
static void there_and_back(const uint8_t *bytes, size_t len, size_t step, unsigned int level)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	struct ptc_compressor *c = NULL;
	uint8_t *back = malloc(len + 1);
	size_t given = 0, got = 0, taken, n;
	struct ptc_err err;
	const void *rec;

	cr_assert_eq(ptc_compressor_new(level, &c, &err), 0);
	do {
		const size_t want = len - given < step ? len - given : step;

		cr_assert_eq(ptc_compressor_add(c, bytes + given, want, &taken, &err), 0);
		given += taken;
		if (taken < want || given == len) {
			cr_assert_eq(ptc_compressor_finish(c, &rec, &n, &err), 0);
			if (n)
				got += inflate(z, rec, n, back + got, len - got);
			cr_assert_eq(got, given, "all of it can be read now");
		}
	} while (given < len);
	cr_assert_eq(ptc_compressor_finish(c, &rec, &n, &err), 0);
	cr_assert_eq(n, 0, "nothing is left");
	cr_assert_eq(memcmp(back, bytes, len), 0);
	ptc_compressor_free(c);
	(void)ZSTD_freeDCtx(z);
	free(back);
}

Test(compress, every_byte_comes_back_whatever_it_is)
{
	static const size_t lens[] = { 0, 1, 8, PTC_COMPRESS_PIECE, PTC_COMPRESS_PIECE + 1, BIG };
	static const unsigned int levels[] = { 1, 3, PTC_COMPRESS_LEVEL_MAX };
	uint8_t *same = calloc(1, BIG), *noise = malloc(BIG);
	uint64_t x = 88172645463325252;
	size_t i, l;

	for (i = 0; i < BIG; i++) { /* incompressible: each piece must still fit */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		noise[i] = (uint8_t)(x >> 32);
	}
	for (l = 0; l < sizeof(levels) / sizeof(levels[0]); l++) {
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			there_and_back(same, lens[i], BIG, levels[l]);
			there_and_back(noise, lens[i], BIG, levels[l]);
			there_and_back(noise, lens[i], 777, levels[l]);
		}
	}
	free(same);
	free(noise);
}

Test(compress, what_came_before_makes_the_next_record_smaller)
{
	struct ptc_compressor *c = NULL;
	size_t taken, n, first = 0;
	uint8_t bytes[256];
	struct ptc_err err;
	const void *rec;
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i * 37 + i / 3);
	cr_assert_eq(ptc_compressor_new(1, &c, &err), 0);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_compressor_add(c, bytes, sizeof(bytes), &taken, &err), 0);
		cr_assert_eq(taken, sizeof(bytes));
		cr_assert_eq(ptc_compressor_finish(c, &rec, &n, &err), 0);
		if (!i)
			first = n;
		else
			cr_assert_lt(n * 2, first, "one stream, not one each");
	}
	ptc_compressor_free(c);
	ptc_compressor_free(NULL);
}

static size_t allocated(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Under a sanitizer mallinfo2() reports no allocations, so this test checks nothing there. */
Test(compress, no_level_takes_much_memory)
{
	uint8_t *bytes = calloc(1, BIG);
	unsigned int level;

	for (level = 1; level <= PTC_COMPRESS_LEVEL_MAX; level++) {
		const size_t before = allocated();
		struct ptc_compressor *c = NULL;
		struct ptc_err err;
		size_t taken;

		cr_assert_eq(ptc_compressor_new(level, &c, &err), 0);
		cr_assert_eq(ptc_compressor_add(c, bytes, BIG, &taken, &err), 0);
		cr_assert_lt(allocated() - before, 16u << 20, "level %u: %zu", level,
			     allocated() - before);
		ptc_compressor_free(c);
	}
	free(bytes);
}

Test(compress, levels_are_1_to_22)
{
	struct ptc_compressor *c = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_compressor_new(0, &c, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_compressor_new(23, &c, &err), PTC_E_USAGE);
	cr_assert_not_null(strstr(err.msg, "23"));
	cr_assert_null(c);
}
