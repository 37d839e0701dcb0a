/* SPDX-License-Identifier: MIT */
/* Description: the trace in a sample, behind fields of every size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/sample_aux.h"
#include "lib_perfdata.h"

#define EVERYTHING                                                                                 \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
		    PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
		    PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |                \
		    PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |           \
		    PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |           \
		    PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |      \
		    PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | \
		    PERF_SAMPLE_AUX))

static const struct perf_event_attr everything = {
	.sample_type = EVERYTHING,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
		       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS,
	.sample_regs_user = 0x7,
	.sample_regs_intr = 0x3,
};

static void words(struct ptc_buf *b, size_t n)
{
	while (n--)
		ptc_buf_le64(b, 77);
}

/* A sample of @everything; counts in it are 2. */
static struct ptc_buf sample(void)
{
	struct ptc_buf b = PTC_BUF_INIT;

	words(&b, 2); /* IDENTIFIER IP */
	ptc_buf_le32(&b, 5);
	ptc_buf_le32(&b, 6);
	words(&b, 4); /* TIME ADDR ID STREAM_ID */
	ptc_buf_le32(&b, 3);
	ptc_buf_le32(&b, 0);
	words(&b, 1); /* PERIOD */
	ptc_buf_le64(&b, 2);
	words(&b, 2 + 2 * 3); /* READ */
	ptc_buf_le64(&b, 2);
	words(&b, 2); /* CALLCHAIN */
	ptc_buf_le32(&b, 12);
	ptc_buf_zero(&b, 12); /* RAW */
	ptc_buf_le64(&b, 2);
	words(&b, 1 + 2 * 3 + 2); /* BRANCH_STACK */
	ptc_buf_le64(&b, 2);
	words(&b, 3); /* REGS_USER */
	ptc_buf_le64(&b, 16);
	words(&b, 2 + 1);    /* STACK_USER */
	words(&b, 3);	     /* WEIGHT DATA_SRC TRANSACTION */
	ptc_buf_le64(&b, 0); /* REGS_INTR: none */
	words(&b, 4);
	ptc_buf_le64(&b, 8);
	ptc_buf_put(&b, "12345678", 8);
	cr_assert(!ptc_buf_failed(&b));
	return b;
}

Test(sample_aux, it_is_found_behind_every_other_field)
{
	struct ptc_rec rec = { .type = PERF_RECORD_SAMPLE };
	struct ptc_buf b = sample();
	struct ptc_sample s;
	struct ptc_cur aux;
	struct ptc_err err;

	rec.body = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_sample_aux(&rec, &everything, &s, &aux, &err), 1, "%s", err.msg);
	cr_assert(ptc_cur_left(&aux) == 8 && !memcmp(aux.pos, "12345678", 8));
	cr_assert(s.id.tid == 6 && s.id.cpu == 3);
	ptc_buf_release(&b);
}

Test(sample_aux, a_sample_without_it_has_none)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID };
	const struct perf_event_attr aux_attr = { .sample_type = PERF_SAMPLE_AUX };
	static const uint8_t zero[8];
	struct ptc_rec rec = { .type = PERF_RECORD_SAMPLE };
	struct ptc_sample s;
	struct ptc_cur aux;
	struct ptc_err err;

	rec.body = ptc_cur_init(zero, 8);
	cr_assert_eq(ptc_sample_aux(&rec, &attr, &s, &aux, &err), 0);
	cr_assert_eq(ptc_sample_aux(&rec, &aux_attr, &s, &aux, &err), 0);
}

Test(sample_aux, one_that_is_cut_anywhere_is_refused)
{
	struct ptc_rec rec = { .type = PERF_RECORD_SAMPLE };
	struct ptc_buf b = sample();
	struct ptc_sample s;
	struct ptc_cur aux;
	struct ptc_err err;
	uint8_t *bytes;
	size_t n;

	for (n = 0; n < b.len; n++) {
		bytes = pd_exact(b.bytes, n);
		rec.body = ptc_cur_init(bytes, n);
		cr_assert_eq(ptc_sample_aux(&rec, &everything, &s, &aux, &err), PTC_E_FORMAT);
		free(bytes);
	}
	ptc_buf_release(&b);
}

/* Any word as a count: too much is refused, and nothing outside is read. */
Test(sample_aux, counts_without_reason_do_no_harm)
{
	static const uint64_t values[] = { UINT64_MAX, 1ull << 61, 1ull << 32, 1000, 0 };
	struct ptc_rec rec = { .type = PERF_RECORD_SAMPLE };
	struct ptc_buf b = sample();
	struct ptc_sample s;
	struct ptc_cur aux;
	struct ptc_err err;
	uint8_t *bytes;
	size_t at, i;
	int r;

	for (at = 0; at + 8 <= b.len; at += 4) {
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			bytes = pd_exact(b.bytes, b.len);
			memcpy(bytes + at, &values[i], 8);
			rec.body = ptc_cur_init(bytes, b.len);
			r = ptc_sample_aux(&rec, &everything, &s, &aux, &err);
			cr_assert(r == 0 || r == PTC_E_FORMAT ||
				  (r == 1 && aux.pos >= bytes && aux.end <= bytes + b.len));
			free(bytes);
		}
	}
	ptc_buf_release(&b);
}
