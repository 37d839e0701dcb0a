/* SPDX-License-Identifier: MIT */
/* Description: features that describe the recording are read as they were written. */
#include <criterion/criterion.h>

#include "auxtrace/feature/feature.h"

Test(feature_file, numbers_come_back)
{
	const struct ptc_compressed comp = { 1, 2, 3, 4, 65536 };
	const struct ptc_clock_data clock = { 1, 4, 1700000000000000000, 12345 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample_time t;
	struct ptc_clock_data k;
	struct ptc_compressed z;
	struct ptc_cur c;
	uint64_t v;

	ptc_feature_put_compressed(&b, &comp);
	ptc_feature_put_clock_data(&b, &clock);
	ptc_feature_put_sample_time(&b, 5, 6);
	ptc_feature_put_clockid(&b, 7);
	ptc_feature_put_dir_format(&b, 1);
	cr_assert_eq(b.len, 20 + 24 + 16 + 8 + 8);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert(ptc_feature_get_compressed(&c, &z));
	cr_assert(z.version == 1 && z.type == 2 && z.level == 3 && z.ratio == 4 &&
		  z.mmap_len == 65536);
	cr_assert(ptc_feature_get_clock_data(&c, &k));
	cr_assert(k.version == 1 && k.clockid == 4 && k.wall_ns == clock.wall_ns &&
		  k.clock_ns == clock.clock_ns);
	cr_assert(ptc_feature_get_sample_time(&c, &t) && t.first_ns == 5 && t.last_ns == 6);
	cr_assert(ptc_feature_get_clockid(&c, &v) && v == 7);
	cr_assert(ptc_feature_get_dir_format(&c, &v) && v == 1);
	cr_assert_eq(ptc_cur_left(&c), 0);
	c = ptc_cur_init(b.bytes, 15);
	cr_assert(!ptc_feature_get_compressed(&c, &z) && !ptc_feature_get_clock_data(&c, &k) &&
		  !ptc_feature_get_sample_time(&c, &t));
	cr_assert_eq(ptc_cur_left(&c), 15, "nothing moved");
	ptc_buf_release(&b);
}

Test(feature_file, the_index_comes_back)
{
	const struct ptc_auxtrace_entry want[] = { { 1ull << 40, 48 }, { 77, 48 } };
	struct ptc_auxtrace_entry e;
	struct ptc_feature_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t i;

	ptc_feature_put_auxtrace(&b, want, 2);
	cr_assert_eq(b.len, 8 + 32);
	cr_assert_eq(
		ptc_feature_open(PTC_FEAT_AUXTRACE, ptc_cur_init(b.bytes, b.len), 0, &it, &err), 0);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_auxtrace(&it, &e, &err), 1);
		cr_assert(e.off == want[i].off && e.size == want[i].size);
	}
	cr_assert_eq(ptc_feature_next_auxtrace(&it, &e, &err), 0);
	ptc_buf_release(&b);
}
