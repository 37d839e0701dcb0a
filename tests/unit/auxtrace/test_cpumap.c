/* SPDX-License-Identifier: MIT */
/* Description: sets of CPUs in each of their three encodings. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/cpumap.h"
#include "lib_perfdata.h"

static const uint8_t listed[] = { 0, 0, 3, 0, 0xff, 0xff, 5, 0, 1, 0x01 };
static const uint8_t mask32[] = { 1, 0, 2, 0, 4, 0, 0x05, 0, 0, 0x80, 1, 0, 0, 0 };
static const uint8_t mask64[] = { 1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0x05, 0, 0, 0x80, 1, 0, 0, 0x80 };
static const uint8_t range[] = { 2, 0, 0, 0, 3, 0, 5, 0 };
static const uint8_t range_any[] = { 2, 0, 1, 0, 0, 1, 1, 1 };

static const struct {
	const uint8_t *bytes;
	size_t len;
	int32_t cpus[6];
	size_t n;
} maps[] = {
	{ listed, sizeof(listed), { -1, 5, 257 }, 3 },
	{ mask32, sizeof(mask32), { 0, 2, 31, 32 }, 4 },
	{ mask64, sizeof(mask64), { 0, 2, 31, 32, 63 }, 5 },
	{ range, sizeof(range), { 3, 4, 5 }, 3 },
	{ range_any, sizeof(range_any), { -1, 256, 257 }, 3 },
};

Test(cpumap, every_encoding_is_read_put_again_and_refused_when_cut)
{
	size_t i, j, len;

	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		for (len = 0; len <= maps[i].len; len++) {
			uint8_t *bytes = pd_exact(maps[i].bytes, len);
			struct ptc_cur c = ptc_cur_init(bytes, len);
			struct ptc_buf b = PTC_BUF_INIT;
			struct ptc_cpu_map m;
			int32_t cpu;

			if (len < maps[i].len) {
				cr_assert(!ptc_cpu_map_parse(&c, &m), "map %zu length %zu", i, len);
				cr_assert_eq(ptc_cur_left(&c), len);
				free(bytes);
				continue;
			}
			cr_assert(ptc_cpu_map_parse(&c, &m), "map %zu", i);
			cr_assert_eq(ptc_cur_left(&c), 0);
			ptc_cpu_map_put(&b, &m);
			cr_assert_eq(b.len, maps[i].len);
			cr_assert_eq(memcmp(b.bytes, maps[i].bytes, b.len), 0, "map %zu", i);
			for (j = 0; ptc_cpu_map_next(&m, &cpu); j++)
				cr_assert(j < maps[i].n && cpu == maps[i].cpus[j],
					  "map %zu: cpu %d", i, cpu);
			cr_assert_eq(j, maps[i].n);
			ptc_buf_release(&b);
			free(bytes);
		}
	}
}

static bool parses(const uint8_t *bytes, size_t len, size_t off, uint8_t value)
{
	uint8_t *copy = pd_exact(bytes, len);
	struct ptc_cur c = ptc_cur_init(copy, len);
	struct ptc_cpu_map m;
	int32_t cpu;
	bool ok;

	copy[off] = value;
	ok = ptc_cpu_map_parse(&c, &m);
	while (ok && ptc_cpu_map_next(&m, &cpu))
		;
	free(copy);
	return ok;
}

Test(cpumap, claims_are_held_against_the_bytes_that_are_there)
{
	unsigned int v;

	for (v = 0; v < 256; v++) {
		cr_assert_eq(parses(listed, sizeof(listed), 2, (uint8_t)v), v <= 3, "n %u", v);
		cr_assert_eq(parses(mask32, sizeof(mask32), 2, (uint8_t)v), v <= 2, "n %u", v);
		cr_assert_eq(parses(mask64, sizeof(mask64), 2, (uint8_t)v), v <= 1, "n %u", v);
		cr_assert_eq(parses(mask64, sizeof(mask64), 4, (uint8_t)v), v == 4 || v == 8,
			     "word size %u", v);
		cr_assert_eq(parses(range, sizeof(range), 4, (uint8_t)v), v <= 5, "first %u", v);
		cr_assert_eq(parses(range, sizeof(range), 0, (uint8_t)v), v == 2 || v == 0,
			     "type %u", v);
		cr_assert(!parses(listed, sizeof(listed), 3, (uint8_t)(v | 1)));
	}
}
