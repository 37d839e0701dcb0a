/* SPDX-License-Identifier: MIT */
/* Description: perf_event_attr in every published size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/attr.h"
#include "lib_perfdata.h"

static const uint32_t sizes[] = {
	PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2, PERF_ATTR_SIZE_VER3,
	PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7,
	PERF_ATTR_SIZE_VER8, PERF_ATTR_SIZE_VER9,
};

/* Returns an attr in which every byte is set and neighbouring bytes differ. */
static struct perf_event_attr full(void)
{
	struct perf_event_attr a;
	uint8_t bytes[sizeof(a)];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	memcpy(&a, bytes, sizeof(a));
	return a;
}

Test(attr, what_is_put_in_any_size_is_parsed_again)
{
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_attr want = full(), got;
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_err err;
		bool unknown = true;
		uint8_t *bytes;

		ptc_attr_put(&b, &want, sizes[i]);
		cr_assert_eq(b.len, sizes[i]);
		bytes = pd_exact(b.bytes, b.len);
		cr_assert_eq(ptc_attr_parse(ptc_cur_init(bytes, b.len), 0, &got, &unknown, &err),
			     0);
		want.size = sizes[i];
		memset((uint8_t *)&want + sizes[i], 0, sizeof(want) - sizes[i]);
		cr_assert_eq(memcmp(&want, &got, sizeof(got)), 0, "size %u", sizes[i]);
		cr_assert(!unknown);
		free(bytes);
		ptc_buf_release(&b);
	}
}

Test(attr, fields_of_a_newer_kernel_are_dropped_and_told)
{
	const struct perf_event_attr want = full();
	const uint32_t size = sizeof(want) + 16;
	struct perf_event_attr got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	bool unknown;

	ptc_attr_put(&b, &want, size);
	cr_assert_eq(ptc_attr_parse(ptc_cur_init(b.bytes, b.len), 0, &got, &unknown, &err), 0);
	cr_assert(!unknown, "they are 0");
	b.bytes[size - 1] = 1;
	cr_assert_eq(ptc_attr_parse(ptc_cur_init(b.bytes, b.len), 0, &got, &unknown, &err), 0);
	cr_assert(unknown);
	cr_assert_eq(got.config4, want.config4);
	ptc_buf_release(&b);
}

Test(attr, size_zero_means_the_first_published_one)
{
	uint8_t bytes[PERF_ATTR_SIZE_VER1];
	struct perf_event_attr got;
	struct ptc_err err;
	bool unknown;

	memset(bytes, 0xff, sizeof(bytes));
	memset(bytes + 4, 0, 4);
	cr_assert_eq(ptc_attr_parse(ptc_cur_init(bytes, sizeof(bytes)), 0, &got, &unknown, &err),
		     0);
	cr_assert_eq(got.size, PERF_ATTR_SIZE_VER0);
	cr_assert_eq(got.config2, 0);
}

Test(attr, a_size_below_the_first_or_beyond_the_place_is_refused)
{
	uint8_t bytes[PERF_ATTR_SIZE_VER1] = { 0 };
	struct perf_event_attr got;
	struct ptc_err err;
	bool unknown;

	bytes[4] = PERF_ATTR_SIZE_VER0 - 1;
	cr_assert_eq(ptc_attr_parse(ptc_cur_init(bytes, sizeof(bytes)), 9, &got, &unknown, &err),
		     PTC_E_FORMAT);
	cr_assert_eq(err.off, 9);
	bytes[4] = PERF_ATTR_SIZE_VER1 + 1;
	cr_assert_eq(ptc_attr_parse(ptc_cur_init(bytes, sizeof(bytes)), 0, &got, &unknown, &err),
		     PTC_E_FORMAT);
}

Test(attr, cut_at_every_length_it_is_refused)
{
	const struct perf_event_attr a = full();
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_attr_put(&b, &a, PERF_ATTR_SIZE_VER7);
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		struct perf_event_attr got;
		struct ptc_err err;
		bool unknown;

		cr_assert_eq(ptc_attr_parse(ptc_cur_init(bytes, len), 0, &got, &unknown, &err),
			     PTC_E_FORMAT, "length %zu", len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(attr, it_is_stored_as_small_as_its_fields_allow)
{
	struct perf_event_attr a = { 0 };

	cr_assert_eq(ptc_attr_stored_size(&a), PERF_ATTR_SIZE_VER7);
	a.config3 = 1;
	cr_assert_eq(ptc_attr_stored_size(&a), PERF_ATTR_SIZE_VER8);
	a.config4 = 1;
	cr_assert_eq(ptc_attr_stored_size(&a), PERF_ATTR_SIZE_VER9);
}
