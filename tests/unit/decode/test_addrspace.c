/* SPDX-License-Identifier: MIT */
/* Description: ranges of addresses, replaced, split, and read across. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "fewer.h"

static const uint8_t text[] = "0123456789abcdefghijklmnopqrstuvwxyz";

struct world {
	struct ptc_codefiles files;
	struct ptc_codefile *a, *b, *missing;
	struct ptc_addrspace as;
};

static void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->a = ptc_codefiles_add_bytes(&w->files, "a", text, 16);
	w->b = ptc_codefiles_add_bytes(&w->files, "b", text + 16, 20);
	w->missing = ptc_codefiles_get(&w->files, "//anon", NULL, -1);
	cr_assert(w->a && w->b && w->missing && !w->missing->bytes);
}

static void drop(struct world *w)
{
	ptc_addrspace_release(&w->as);
	ptc_codefiles_release(&w->files);
}

/* Returns the bytes that can be read at @ip, as a string. */
static const char *read_at(const struct world *w, uint64_t ip)
{
	static char buf[32];
	const size_t n = ptc_addrspace_read(&w->as, ip, (uint8_t *)buf, sizeof(buf) - 1);

	cr_assert_eq(ptc_addrspace_has(&w->as, ip), n != 0);
	buf[n] = '\0';
	return buf;
}

Test(addrspace, reads_end_where_the_file_or_the_range_does)
{
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_map(&w.as, 0x100, 0x1000, 4, w.a));
	cr_assert(ptc_addrspace_map(&w.as, 0x2000, 3, 0, w.b));
	cr_assert(ptc_addrspace_map(&w.as, 0x3000, 16, UINT64_MAX - 4, w.b));
	cr_assert(ptc_addrspace_map(&w.as, 0x4000, 16, 0, w.missing));
	cr_assert(ptc_addrspace_map(&w.as, 0x5000, 0, 0, w.a));
	cr_assert_str_eq(read_at(&w, 0x100), "456789abcdef");
	cr_assert_str_eq(read_at(&w, 0x10b), "f");
	cr_assert_str_eq(read_at(&w, 0x10c), "");
	cr_assert_str_eq(read_at(&w, 0xff), "");
	cr_assert_str_eq(read_at(&w, 0x2000), "ghi");
	cr_assert_str_eq(read_at(&w, 0x2003), "");
	cr_assert_str_eq(read_at(&w, 0x3000), "");
	cr_assert_str_eq(read_at(&w, 0x3008), "");
	cr_assert_str_eq(read_at(&w, 0x4000), "");
	cr_assert_str_eq(read_at(&w, 0x5000), "");
	cr_assert_null(ptc_addrspace_find(&w.as, 0x1100));
	cr_assert_not_null(ptc_addrspace_find(&w.as, 0x10ff));
	drop(&w);
}

Test(addrspace, reads_go_on_in_the_next_range)
{
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 4, 0, w.a));
	cr_assert(ptc_addrspace_map(&w.as, 0x1004, 4, 0, w.b));
	cr_assert_str_eq(read_at(&w, 0x1002), "23ghij");
	drop(&w);
}

Test(addrspace, a_new_mapping_replaces_what_it_covers_and_splits_what_it_does_not)
{
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 16, 0, w.a));
	cr_assert(ptc_addrspace_map(&w.as, 0x1004, 4, 0, w.b)); /* in the middle */
	cr_assert_eq(ptc_ranges_count(&w.as.ranges), 3);
	cr_assert_str_eq(read_at(&w, 0x1000), "0123ghij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0x1002, 4, 0, w.a)); /* across two ranges */
	cr_assert_str_eq(read_at(&w, 0x1000), "010123ij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0x1003, 1, 0, w.missing));
	cr_assert_str_eq(read_at(&w, 0x1000), "010");
	cr_assert_str_eq(read_at(&w, 0x1004), "23ij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0xff0, 0x100, 0, w.b)); /* over all ranges */
	cr_assert_eq(ptc_ranges_count(&w.as.ranges), 1);
	drop(&w);
}

Test(addrspace, every_change_is_a_new_version)
{
	struct ptc_addrspace copy = { .version = 0 };
	struct world w;
	uint64_t v;

	make(&w);
	v = w.as.version;
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 16, 0, w.a));
	cr_assert_neq(w.as.version, v);
	ptc_addrspace_copy(&copy, &w.as);
	cr_assert_neq(copy.version, 0);
	v = w.as.version;
	ptc_addrspace_clear(&w.as);
	cr_assert_neq(w.as.version, v);
	cr_assert_str_eq(read_at(&w, 0x1000), "");
	cr_assert_not_null(ptc_addrspace_find(&copy, 0x1000));
	ptc_addrspace_release(&copy);
	drop(&w);
}

static bool is_ascending(const struct ptc_ranges *t)
{
	const struct ptc_range *r = ptc_ranges_from(t, 0), *next;
	size_t n = 0;

	for (; r; r = next, n++) {
		next = ptc_ranges_next(t, r);
		if (r->start >= r->end || (next && next->start < r->end))
			return false;
	}
	return n == ptc_ranges_count(t);
}

/* Compares with an array of the expected byte at each address. */
Test(addrspace, many_mappings_agree_with_a_model)
{
	enum { SPACE = 64, ROUNDS = 3000 };
	uint8_t model[SPACE] = { 0 };
	uint32_t seed = 1;
	struct world w;
	int round, i;

	make(&w);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t start, len, off;
		uint8_t got;

		seed = seed * 1664525 + 1013904223;
		start = seed >> 8 & 63;
		len = (seed >> 16 & 15) + 1;
		off = seed >> 24 & 7;
		if (start + len > SPACE)
			len = SPACE - start;
		cr_assert(ptc_addrspace_map(&w.as, 0x1000 + start, len, off,
					    seed & 0x80000000 ? w.a : w.missing));
		for (i = 0; i < (int)len; i++)
			model[start + (uint32_t)i] = seed & 0x80000000 && off + (uint32_t)i < 16 ?
							     text[off + (uint32_t)i] :
							     0;
		for (i = 0; i < SPACE; i++) {
			got = 0;
			(void)ptc_addrspace_read(&w.as, 0x1000 + (uint32_t)i, &got, 1);
			cr_assert_eq(got, model[i]);
		}
		cr_assert(is_ascending(&w.as.ranges));
	}
	drop(&w);
}

Test(addrspace, patches_lie_over_what_is_mapped)
{
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 8, 0, w.a));
	cr_assert(ptc_addrspace_map(&w.as, 0x1008, 8, 0, w.b));
	cr_assert(ptc_addrspace_patch(&w.as, 0x1006, (const uint8_t *)"ABCD", 4));
	cr_assert_str_eq(read_at(&w, 0x1000), "012345ABCDijklmn");
	cr_assert_str_eq(read_at(&w, 0x1009), "Dijklmn");
	cr_assert(ptc_addrspace_patch(&w.as, 0x1007, (const uint8_t *)"xy", 2));
	cr_assert_str_eq(read_at(&w, 0x1000), "012345AxyDijklmn");
	cr_assert(ptc_addrspace_patch(&w.as, 0x1010, (const uint8_t *)"Z", 1)); /* unmapped */
	cr_assert_str_eq(read_at(&w, 0x100e), "mnZ");
	cr_assert(ptc_addrspace_patch(&w.as, 0x1ffe, (const uint8_t *)"abcd", 4)); /* two pages */
	cr_assert_str_eq(read_at(&w, 0x1ffd), "");
	cr_assert_str_eq(read_at(&w, 0x1ffe), "abcd");
	cr_assert(ptc_addrspace_map(&w.as, 0x1004, 4, 0, w.a));
	cr_assert_str_eq(read_at(&w, 0x1000), "01230123yDijklmnZ");
	drop(&w);
}

Test(addrspace, no_patch_and_no_mapping_reaches_the_last_address)
{
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_patch(&w.as, UINT64_MAX - 1, (const uint8_t *)"abcd", 4));
	cr_assert_str_eq(read_at(&w, UINT64_MAX - 1), "a");
	cr_assert_str_eq(read_at(&w, 0), "");
	cr_assert(ptc_addrspace_map(&w.as, UINT64_MAX - 4, 16, 0, w.a));
	cr_assert_str_eq(read_at(&w, UINT64_MAX - 4), "0123");
	cr_assert(ptc_addrspace_patch(&w.as, 0x1000, (const uint8_t *)"", 0));
	cr_assert_str_eq(read_at(&w, 0x1000), "");
	drop(&w);
}

Test(addrspace, copies_share_patches_until_one_is_changed)
{
	struct ptc_addrspace copy = { .version = 0 };
	struct world w;

	make(&w);
	cr_assert(ptc_addrspace_patch(&w.as, 0x1000, (const uint8_t *)"abcd", 4));
	ptc_addrspace_copy(&copy, &w.as);
	cr_assert_eq(copy.patches.root, w.as.patches.root);
	cr_assert(ptc_addrspace_patch(&copy, 0x1001, (const uint8_t *)"X", 1));
	cr_assert_str_eq(read_at(&w, 0x1000), "abcd");
	cr_assert(ptc_addrspace_patch(&w.as, 0x1002, (const uint8_t *)"Y", 1));
	cr_assert_str_eq(read_at(&w, 0x1000), "abYd");
	ptc_addrspace_release(&w.as);
	w.as = copy;
	cr_assert_str_eq(read_at(&w, 0x1000), "aXcd");
	drop(&w);
}

Test(addrspace, a_patch_is_a_new_layout_once_a_range)
{
	struct world w;
	uint64_t v, layout;

	make(&w);
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 16, 0, w.a));
	layout = w.as.layout;
	cr_assert(ptc_addrspace_patch(&w.as, 0x100f, (const uint8_t *)"ab", 2));
	cr_assert(ptc_ranges_from(&w.as.ranges, 0)->patched);
	cr_assert_neq(w.as.layout, layout);
	v = w.as.version;
	layout = w.as.layout;
	cr_assert(ptc_addrspace_patch(&w.as, 0x1000, (const uint8_t *)"ab", 2));
	cr_assert_neq(w.as.version, v);
	cr_assert_eq(w.as.layout, layout);
	drop(&w);
}

/* Compares patches and mappings with an array of the expected byte at each address. */
Test(addrspace, many_patches_agree_with_a_model)
{
	enum { SPACE = 3 * 4096, ROUNDS = FEWER(1000, 400) };
	static uint8_t model[SPACE], got[SPACE];
	uint64_t seed = 1;
	struct world w;
	int round;

	make(&w);
	for (round = 0; round < ROUNDS; round++) {
		size_t start, len, i;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		start = (seed >> 20) % SPACE;
		len = (seed >> 40) % (round % 50 ? 20 : 5000) + 1;
		if (len > SPACE - start)
			len = SPACE - start;
		if (round % 7 == 3) {
			cr_assert(ptc_addrspace_map(&w.as, 0x10000 + start, len, 0, w.missing));
			memset(model + start, 0, len);
		} else {
			if (len > 36)
				len = 36;
			cr_assert(ptc_addrspace_patch(&w.as, 0x10000 + start, text, len));
			memcpy(model + start, text, len);
		}
		memset(got, 0, SPACE);
		for (i = 0; i < SPACE;) {
			const size_t n = ptc_addrspace_read(&w.as, 0x10000 + i, got + i, SPACE - i);

			i += n ? n : 1;
		}
		cr_assert_eq(memcmp(model, got, SPACE), 0, "round %d", round);
	}
	drop(&w);
}
