/* SPDX-License-Identifier: MIT */
/* Description: AUXTRACE_INFO of Intel PT, TIME_CONV, and clock conversion. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/layout.h"
#include "lib_perfdata.h"

static const struct ptc_pt_info some = {
	.type = PTC_AUXTRACE_TYPE_INTEL_PT,
	.pmu_type = 8,
	.time = { 31, 715827883, 5000000000 },
	.cap_user_time_zero = true,
	.tsc_bit = 0x400,
	.noretcomp_bit = 0x800,
	.have_sched_switch = 2,
	.snapshot_mode = true,
	.per_cpu_mmaps = true,
	.mtc_bit = 0x200,
	.mtc_freq_bits = 0x3c000,
	.tsc_ctc_n = 250,
	.tsc_ctc_d = 2,
	.cyc_bit = 2,
	.max_nonturbo_ratio = 30,
	.filter = "filter 0x10/0x20@/bin/x",
	.cap_event_trace = true,
};

static struct ptc_rec cut(const uint8_t *bytes, size_t len)
{
	return (struct ptc_rec){ .off = 8,
				 .type = ptc_le32(bytes),
				 .body = ptc_cur_init(bytes + 8, len - 8) };
}

Test(auxtrace_info, all_words_come_back)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_pt_info got;
	struct ptc_err err;
	struct ptc_rec rec;

	ptc_pt_info_put(&b, &some);
	cr_assert_eq(b.len, 8 + 8 + 17 * 8 + 24 + 8, "header, type, words, filter, event trace");
	rec = cut(b.bytes, b.len);
	cr_assert_eq(rec.type, PTC_REC_AUXTRACE_INFO);
	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), 0);
	cr_assert_str_eq(got.filter, some.filter);
	cr_assert(got.type == some.type && got.pmu_type == some.pmu_type);
	cr_assert(got.time.shift == 31 && got.time.mult == 715827883 &&
		  got.time.zero == 5000000000 && got.cap_user_time_zero);
	cr_assert(got.tsc_bit == 0x400 && got.noretcomp_bit == 0x800 && got.have_sched_switch == 2);
	cr_assert(got.snapshot_mode && got.per_cpu_mmaps);
	cr_assert(got.mtc_bit == 0x200 && got.mtc_freq_bits == 0x3c000 && got.cyc_bit == 2);
	cr_assert(got.tsc_ctc_n == 250 && got.tsc_ctc_d == 2 && got.max_nonturbo_ratio == 30);
	cr_assert(got.cap_event_trace);
	rec = cut(b.bytes, b.len - 8); /* as older versions of perf wrote it */
	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), 0);
	cr_assert(!got.cap_event_trace);
	ptc_buf_release(&b);
}

Test(auxtrace_info, cut_at_every_length_it_is_short_or_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_pt_info_put(&b, &some);
	for (len = 8; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		const struct ptc_rec rec = cut(bytes, len);
		const size_t words = len < 16 ? 0 : (len - 16) / 8;
		struct ptc_pt_info got;
		struct ptc_err err;
		int rc = ptc_pt_info_parse(&rec, &got, &err);

		if (words < 10) {
			cr_assert_eq(rc, PTC_E_FORMAT, "length %zu", len);
		} else if (words < 17) { /* as older versions of perf wrote it */
			cr_assert_eq(rc, 0, "length %zu", len);
			cr_assert_eq(got.mtc_bit, words < 15 ? 0 : 0x200);
			cr_assert_eq(got.cyc_bit, words < 15 ? 0 : 2);
			cr_assert_str_eq(got.filter, "");
		} else if (len < 8 + 8 + 17 * 8 + strlen(some.filter) + 1) {
			cr_assert_eq(rc, PTC_E_FORMAT, "length %zu", len);
		} else {
			cr_assert_eq(rc, 0, "length %zu", len);
		}
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(auxtrace_info, an_impossible_clock_is_refused_only_where_it_counts)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_pt_info got;
	struct ptc_err err;
	struct ptc_rec rec;

	ptc_pt_info_put(&b, &some);
	b.bytes[16 + 8] = 64; /* an invalid shift */
	rec = cut(b.bytes, b.len);
	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), PTC_E_FORMAT);
	b.bytes[16 + 32] = 0; /* cap_user_time_zero */
	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), 0);
	cr_assert_eq(got.time.mult, 0);
	ptc_buf_release(&b);
}

/* Parses @some with word @n set to @value. */
static int with(size_t n, uint64_t value, struct ptc_pt_info *ret)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	size_t i;
	int rc;

	ptc_pt_info_put(&b, &some);
	for (i = 0; i < 8; i++)
		b.bytes[16 + n * 8 + i] = (uint8_t)(value >> 8 * i);
	rec = cut(b.bytes, b.len);
	rc = ptc_pt_info_parse(&rec, ret, &err);
	if (rc)
		cr_expect_not_null(strstr(err.msg, "impossible"), "%s", err.msg);
	ptc_buf_release(&b);
	return rc;
}

Test(auxtrace_info, each_number_is_taken_up_to_its_extremes_and_refused_beyond)
{
	enum { BIT, NUMBER, RATIO, FREQ, SHIFT };
	static const struct {
		size_t word;
		int kind;
	} words[] = { { 0, NUMBER },  { 1, SHIFT }, { 2, NUMBER }, { 5, BIT },
		      { 6, BIT },     { 10, BIT },  { 11, FREQ },  { 12, NUMBER },
		      { 13, NUMBER }, { 14, BIT },  { 15, RATIO } };
	static const struct {
		uint64_t value;
		bool good[5]; /* for each kind */
	} values[] = {
		{ 0, { true, true, true, true, true } },
		{ 1, { true, true, true, true, true } },
		{ 3, { false, true, true, true, true } },
		{ 5, { false, true, true, false, true } },
		{ 15, { false, true, true, true, true } },
		{ 31, { false, true, true, false, true } },
		{ 63, { false, true, true, false, true } },
		{ 64, { true, true, true, true, false } },
		{ 255, { false, true, true, false, false } },
		{ 256, { true, true, false, true, false } },
		{ 0x3c000, { false, true, false, true, false } },
		{ 0x24000, { false, true, false, false, false } },
		{ UINT32_MAX, { false, true, false, false, false } },
		{ UINT64_C(1) << 32, { true, false, false, true, false } },
		{ UINT64_C(1) << 63, { true, false, false, true, false } },
		{ UINT64_C(0xf) << 60, { false, false, false, true, false } },
		{ UINT64_C(0x1f) << 59, { false, false, false, false, false } },
		{ UINT64_MAX, { false, false, false, false, false } },
	};
	size_t i, k;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			struct ptc_pt_info got;
			const int rc = with(words[i].word, values[k].value, &got);

			cr_expect_eq(rc, values[k].good[words[i].kind] ? 0 : PTC_E_FORMAT,
				     "word %zu, value 0x%llx", words[i].word,
				     (unsigned long long)values[k].value);
		}
}

Test(auxtrace_info, a_filter_whose_end_is_not_where_its_length_says_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_pt_info got;
	struct ptc_err err;
	struct ptc_rec rec;

	ptc_pt_info_put(&b, &some);
	b.bytes[16 + 17 * 8 + 3] = 0;
	b.bytes[16 + 17 * 8 + strlen(some.filter)] = 'x';
	rec = cut(b.bytes, b.len);
	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

Test(auxtrace_info, words_of_another_tracer_are_not_read)
{
	const uint8_t bytes[16] = { PTC_REC_AUXTRACE_INFO, 0, 0, 0, 0, 0, 16, 0, 2 };
	const struct ptc_rec rec = cut(bytes, sizeof(bytes));
	struct ptc_pt_info got;
	struct ptc_err err;

	cr_assert_eq(ptc_pt_info_parse(&rec, &got, &err), 0);
	cr_assert_eq(got.type, PTC_AUXTRACE_TYPE_INTEL_BTS);
}

Test(auxtrace_info, time_conv_comes_back_also_in_its_short_form)
{
	const struct ptc_time_conv want = { 32, 0xffffffff, 0xfffffff86343cb91 };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_time_conv_put(&b, &want);
	cr_assert_eq(b.len, 56);
	for (len = 8; len <= b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		const struct ptc_rec rec = cut(bytes, len);
		struct ptc_time_conv got;
		struct ptc_err err;
		int rc = ptc_time_conv_parse(&rec, &got, &err);

		cr_assert_eq(rc, len < 32 ? PTC_E_FORMAT : 0, "length %zu", len);
		if (!rc)
			cr_assert(got.shift == 32 && got.mult == want.mult &&
				  got.zero == want.zero);
		free(bytes);
	}
	ptc_buf_release(&b);
}

/* The kernel's formula, from the comment at cap_user_time_zero in perf_event.h. */
static uint64_t kernel_time(const struct ptc_time_conv *tc, uint64_t tsc)
{
	const uint64_t quot = tsc >> tc->shift;
	const uint64_t rem = tsc & ((UINT64_C(1) << tc->shift) - 1);

	return tc->zero + quot * tc->mult + (rem * tc->mult >> tc->shift);
}

Test(auxtrace_info, tsc_and_time_convert_as_in_the_kernel)
{
	static const struct ptc_time_conv clocks[] = {
		{ 31, 715827883, 5000000000 },
		{ 31, 1789569706, 18446744041015200657u },
		{ 10, 341, 0 },
		{ 0, 1, 7 },
	};
	size_t i;
	unsigned int bit;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		for (bit = 0; bit < 56; bit++) {
			const uint64_t tsc = (UINT64_C(1) << bit) + UINT64_C(12345) * bit;
			const uint64_t ns = ptc_tsc_to_ns(&clocks[i], tsc);

			cr_assert_eq(ns, kernel_time(&clocks[i], tsc), "clock %zu bit %u", i, bit);
			/*
			 * Conversion back: the TSC at which that nanosecond began, or one tick
			 * before.
			 */
			cr_assert_leq(ptc_ns_to_tsc(&clocks[i], ns), tsc);
			cr_assert_leq(ptc_tsc_to_ns(&clocks[i], ptc_ns_to_tsc(&clocks[i], ns)) -
					      clocks[i].zero,
				      ns - clocks[i].zero);
		}
	}
	cr_assert_eq(ptc_ns_to_tsc(&(struct ptc_time_conv){ 5, 0, 3 }, 100), 0);
}

Test(auxtrace_info, a_config_field_is_shifted_down)
{
	cr_assert_eq(ptc_config_field(0x300e601, 0x3c000), 3);
	cr_assert_eq(ptc_config_field(0x300e601, 0x400), 1);
	cr_assert_eq(ptc_config_field(0x300e601, 0), 0);
}
