/* SPDX-License-Identifier: MIT */
/* Description: ranges of addresses, replaced, split, and read across. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/addrspace.h"
#include "decode/codefile.h"

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
	w->missing = ptc_codefiles_get(&w->files, "//anon", NULL);
	cr_assert(w->a && w->b && w->missing && !w->missing->bytes);
}

static void drop(struct world *w)
{
	ptc_addrspace_release(&w->as);
	ptc_codefiles_release(&w->files);
}

/* What can be read at @ip, as a string. */
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
	cr_assert_eq(w.as.n, 3);
	cr_assert_str_eq(read_at(&w, 0x1000), "0123ghij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0x1002, 4, 0, w.a)); /* over a seam */
	cr_assert_str_eq(read_at(&w, 0x1000), "010123ij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0x1003, 1, 0, w.missing));
	cr_assert_str_eq(read_at(&w, 0x1000), "010");
	cr_assert_str_eq(read_at(&w, 0x1004), "23ij89abcdef");
	cr_assert(ptc_addrspace_map(&w.as, 0xff0, 0x100, 0, w.b)); /* over all of it */
	cr_assert_eq(w.as.n, 1);
	drop(&w);
}

Test(addrspace, every_change_is_a_new_version)
{
	struct ptc_addrspace copy = { .n = 0 };
	struct world w;
	uint64_t v;

	make(&w);
	v = w.as.version;
	cr_assert(ptc_addrspace_map(&w.as, 0x1000, 16, 0, w.a));
	cr_assert_neq(w.as.version, v);
	cr_assert(ptc_addrspace_copy(&copy, &w.as));
	cr_assert_neq(copy.version, 0);
	v = w.as.version;
	ptc_addrspace_clear(&w.as);
	cr_assert_neq(w.as.version, v);
	cr_assert_str_eq(read_at(&w, 0x1000), "");
	cr_assert_not_null(ptc_addrspace_find(&copy, 0x1000));
	ptc_addrspace_release(&copy);
	drop(&w);
}

/* Against an array of what each address should hold. */
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
		for (i = 1; i < (int)w.as.n; i++)
			cr_assert(w.as.ranges[i - 1].end <= w.as.ranges[i].start);
	}
	drop(&w);
}
