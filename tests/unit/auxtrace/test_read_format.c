/* SPDX-License-Identifier: MIT */
/* Description: counter values in each of the 32 forms of read_format. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/read_format.h"
#include "lib_numbers.h"
#include "lib_perfdata.h"

static const struct ptc_read_value some[] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } };

/* Lays out the values as the comment at enum perf_event_read_format describes. */
static void lay_out(struct ptc_buf *b, uint64_t format)
{
	const bool group = format & PERF_FORMAT_GROUP;
	size_t i;

	ptc_buf_le64(b, group ? 3 : some[0].value);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ptc_buf_le64(b, 100);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ptc_buf_le64(b, 101);
	for (i = 0; i < (group ? 3 : 1); i++) {
		if (group)
			ptc_buf_le64(b, some[i].value);
		if (format & PERF_FORMAT_ID)
			ptc_buf_le64(b, some[i].id);
		if (format & PERF_FORMAT_LOST)
			ptc_buf_le64(b, some[i].lost);
	}
}

static void check_values(struct ptc_read r)
{
	struct ptc_read_value v;
	size_t i;

	cr_assert_eq(r.n, r.format & PERF_FORMAT_GROUP ? 3 : 1);
	cr_assert_eq(r.time_enabled, r.format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 100 : 0);
	cr_assert_eq(r.time_running, r.format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 101 : 0);
	for (i = 0; ptc_read_next(&r, &v); i++) {
		cr_assert_eq(v.value, some[i].value);
		cr_assert_eq(v.id, r.format & PERF_FORMAT_ID ? some[i].id : 0);
		cr_assert_eq(v.lost, r.format & PERF_FORMAT_LOST ? some[i].lost : 0);
	}
	cr_assert_eq(i, r.format & PERF_FORMAT_GROUP ? 3 : 1);
}

Test(read_format, every_form_comes_back_and_is_refused_when_cut)
{
	uint64_t format;

	for (format = 0; format < PERF_FORMAT_MAX; format++) {
		struct ptc_buf b = PTC_BUF_INIT, again = PTC_BUF_INIT;
		struct ptc_read r;
		size_t len;

		lay_out(&b, format);
		for (len = 0; len <= b.len; len++) {
			uint8_t *bytes = pd_exact(b.bytes, len);
			struct ptc_cur c = ptc_cur_init(bytes, len);
			const bool ok = ptc_read_parse(&c, format, &r);

			cr_assert_eq(ok, len == b.len, "format %u length %zu", (unsigned int)format,
				     len);
			cr_assert_eq(ptc_cur_left(&c), ok ? 0 : len);
			if (ok) {
				check_values(r);
				ptc_read_put(&again, &r);
				cr_assert_eq(again.len, b.len);
				cr_assert_eq(memcmp(again.bytes, b.bytes, b.len), 0);
			}
			free(bytes);
		}
		ptc_buf_release(&b);
		ptc_buf_release(&again);
	}
}

Test(read_format, a_group_is_built_from_values)
{
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
	struct ptc_buf values = PTC_BUF_INIT, b = PTC_BUF_INIT, want = PTC_BUF_INIT;
	struct ptc_read r = { .format = format };
	size_t i;

	for (i = 0; i < 3; i++)
		ptc_read_value_put(&values, format, &some[i]);
	r.group = ptc_cur_init(values.bytes, values.len);
	ptc_read_put(&b, &r);
	lay_out(&want, format);
	cr_assert_eq(b.len, want.len);
	cr_assert_eq(memcmp(b.bytes, want.bytes, b.len), 0);
	ptc_buf_release(&values);
	ptc_buf_release(&b);
	ptc_buf_release(&want);
}

Test(read_format, an_unknown_format_is_not_read)
{
	const uint8_t bytes[64] = { 0 };
	struct ptc_cur c = ptc_cur_init(bytes, sizeof(bytes));
	struct ptc_read r;

	cr_assert(ptc_read_known(PERF_FORMAT_MAX - 1) && !ptc_read_known(PERF_FORMAT_MAX));
	cr_assert(!ptc_read_parse(&c, PERF_FORMAT_MAX | PERF_FORMAT_ID, &r));
	cr_assert_eq(ptc_cur_left(&c), sizeof(bytes));
}

static void try_read(const void *ctx, const uint8_t *bytes, size_t len)
{
	const uint64_t format = *(const uint64_t *)ctx;
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_read_value v;
	struct ptc_read r;
	uint64_t n = 0;

	if (!ptc_read_parse(&c, format, &r))
		return;
	cr_assert_eq(c.end, bytes + len);
	while (ptc_read_next(&r, &v))
		n++;
	cr_assert_leq(n, len / 8);
}

Test(read_format, no_number_at_any_place_leads_outside)
{
	uint64_t format;

	for (format = 0; format < PERF_FORMAT_MAX; format++) {
		struct ptc_buf b = PTC_BUF_INIT;

		lay_out(&b, format);
		nb_each(b.bytes, b.len, try_read, &format);
		ptc_buf_release(&b);
	}
}
