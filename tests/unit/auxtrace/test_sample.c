/* SPDX-License-Identifier: MIT */
/* Description: the sample_id trailer with every set of fields, and the front of a SAMPLE. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "auxtrace/sample.h"
#include "lib_perfdata.h"

static const uint64_t bits[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

static uint64_t type_of(unsigned int set)
{
	uint64_t type = PERF_SAMPLE_IP; /* not part of the trailer */
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (set >> i & 1)
			type |= bits[i];
	return type;
}

static const struct ptc_sample_id some = {
	.pid = 11,
	.tid = -1,
	.time = 0x1122334455667788,
	.id = 99,
	.stream_id = 98,
	.cpu = 3,
};

Test(sample, every_set_of_fields_comes_back)
{
	unsigned int set;

	for (set = 0; set < 1u << 6; set++) {
		const uint64_t type = type_of(set);
		struct ptc_sample_id got = { .has = ~UINT64_C(0) };
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_cur c;

		ptc_buf_le64(&b, 0xabcdef);
		ptc_sample_id_put(&b, type, &some);
		cr_assert_eq(b.len, 8 + ptc_sample_id_size(type));
		cr_assert_eq(ptc_sample_id_size(type), 8 * (size_t)__builtin_popcount(set));
		c = ptc_cur_init(b.bytes, b.len);
		cr_assert(ptc_sample_id_parse(&c, type, &got));
		cr_assert_eq(ptc_cur_left(&c), 8, "the trailer is cut off, the body stays");
		cr_assert_eq(got.has, type & ~(uint64_t)PERF_SAMPLE_IP);
		if (type & PERF_SAMPLE_TID)
			cr_assert(got.pid == some.pid && got.tid == some.tid);
		if (type & PERF_SAMPLE_TIME)
			cr_assert_eq(got.time, some.time);
		if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
			cr_assert_eq(got.id, some.id);
		if (type & PERF_SAMPLE_STREAM_ID)
			cr_assert_eq(got.stream_id, some.stream_id);
		if (type & PERF_SAMPLE_CPU)
			cr_assert_eq(got.cpu, some.cpu);
		ptc_buf_release(&b);
	}
}

Test(sample, the_order_is_the_kernels)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_sample_id_put(&b, type_of(0x3f), &some);
	cr_assert_eq(ptc_le32(b.bytes), 11);
	cr_assert_eq(ptc_le64(b.bytes + 8), some.time);
	cr_assert_eq(ptc_le64(b.bytes + 16), 99);
	cr_assert_eq(ptc_le64(b.bytes + 24), 98);
	cr_assert_eq(ptc_le32(b.bytes + 32), 3);
	cr_assert_eq(ptc_le64(b.bytes + 40), 99);
	ptc_buf_release(&b);
}

Test(sample, a_body_cut_at_every_length_is_too_short)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_sample_id_put(&b, type_of(0x3f), &some);
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		struct ptc_cur c = ptc_cur_init(bytes, len);
		struct ptc_sample_id got;

		cr_assert(!ptc_sample_id_parse(&c, type_of(0x3f), &got), "length %zu", len);
		cr_assert_eq(ptc_cur_left(&c), len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(sample, the_front_of_a_sample_is_read_and_cut_lengths_are_refused)
{
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID |
			      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_sample s;
	struct ptc_cur c;
	size_t len;

	ptc_buf_le64(&b, 1); /* IDENTIFIER */
	ptc_buf_le64(&b, 2); /* IP */
	ptc_buf_le32(&b, 3); /* pid */
	ptc_buf_le32(&b, 4); /* tid */
	ptc_buf_le64(&b, 5); /* TIME */
	ptc_buf_le64(&b, 6); /* ADDR */
	ptc_buf_le64(&b, 7); /* STREAM_ID */
	ptc_buf_le64(&b, 8); /* CPU */
	ptc_buf_le64(&b, 9); /* PERIOD */
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		c = ptc_cur_init(bytes, len);
		cr_assert(!ptc_sample_parse(&c, type, &s), "length %zu", len);
		free(bytes);
	}
	ptc_buf_zero(&b, 8);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert(ptc_sample_parse(&c, type, &s));
	cr_assert_eq(ptc_cur_left(&c), 8);
	cr_assert(s.id.id == 1 && s.ip == 2 && s.id.pid == 3 && s.id.tid == 4 && s.id.time == 5);
	cr_assert(s.addr == 6 && s.id.stream_id == 7 && s.id.cpu == 8 && s.period == 9);
	ptc_buf_release(&b);
}
