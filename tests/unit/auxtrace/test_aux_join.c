/* SPDX-License-Identifier: MIT */
/* Description: AUX records matched with AUXTRACE records. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_join.h"
#include "lib_perfdata.h"

struct test {
	struct pd pd;
	struct ptc_aux_join join;
	struct ptc_index index;
	struct ptc_file *file;
	uint8_t *bytes;
};

static void begin(struct test *t)
{
	memset(t, 0, sizeof(*t));
	pd_init_pt(&t->pd, NULL);
}

static void piece(struct test *t, uint32_t idx, int32_t tid, int32_t cpu, uint64_t off, size_t len)
{
	static const uint8_t trace[256] = { 1 };

	pd_auxtrace(&t->pd,
		    &(struct ptc_auxtrace){
			    .offset = off, .reference = 900, .idx = idx, .tid = tid, .cpu = cpu },
		    trace, len);
}

static void aux_id(struct test *t, int32_t tid, uint32_t cpu, uint64_t id, uint64_t off,
		   uint64_t size, uint64_t flags)
{
	struct ptc_sb sb = { .type = PERF_RECORD_AUX,
			     .id = { .has = PD_SAMPLE_TYPE,
				     .pid = tid,
				     .tid = tid,
				     .cpu = cpu,
				     .time = 10,
				     .id = id },
			     .u.aux = { off, size, flags } };

	pd_sb(&t->pd, &sb);
}

static void id_index(struct test *t, uint64_t n, const uint64_t (*entries)[2])
{
	const size_t start = ptc_rec_begin(&t->pd.data, PTC_REC_ID_INDEX, 0);
	uint64_t i;

	ptc_buf_le64(&t->pd.data, n);
	for (i = 0; i < n; i++) {
		ptc_buf_le64(&t->pd.data, entries[i][0]);
		ptc_buf_le64(&t->pd.data, entries[i][1]);
		ptc_buf_le64(&t->pd.data, UINT64_MAX);
		ptc_buf_le64(&t->pd.data, UINT64_MAX);
	}
	ptc_rec_end(&t->pd.data, start);
}

static void join(struct test *t)
{
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_sb sb;
	uint64_t pos = 0;
	size_t len;

	t->bytes = pd_finish(&t->pd, &len);
	cr_assert_eq(ptc_file_open_bytes(t->bytes, len, "test", &t->file, &err), 0);
	while (ptc_file_next(t->file, &pos, &rec, &err) > 0) {
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&t->index, t->file, &rec, &err), 0);
		if (rec.type == PTC_REC_ID_INDEX)
			cr_assert_eq(ptc_aux_join_ids(&t->join, &rec, &err), 0);
		if (rec.type != PERF_RECORD_AUX)
			continue;
		cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &sb, &err), 1);
		cr_assert_eq(ptc_aux_join_add(&t->join, &sb, &err), 0);
	}
	cr_assert_eq(ptc_aux_join_sort(&t->join, &t->index, &err), 0);
}

static void end(struct test *t)
{
	ptc_aux_join_release(&t->join);
	ptc_aux_join_release(&t->join);
	ptc_index_release(&t->index);
	ptc_file_free(t->file);
	free(t->bytes);
	pd_release(&t->pd);
}

/*
 * Compares the spans with @want. One line per span: "OFF+SIZE AFTER..UNTIL", then the parts that
 * apply: "flags=", "lost=", "untold".
 */
static void expect_spans(const struct test *t, size_t queue, const struct ptc_time_conv *conv,
			 const char *want)
{
	struct ptc_aux_spans s;
	struct ptc_err err;
	char *text;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(ptc_aux_join_queue(&t->join, &t->index, queue, conv, &s, &err), 0);
	for (i = 0; i < s.n; i++) {
		const struct ptc_aux_span *sp = &s.spans[i];

		fprintf(out, "%" PRIu64 "+%" PRIu64 " %" PRIu64 "..", sp->off, sp->size,
			sp->after_ns);
		if (sp->until_ns != UINT64_MAX)
			fprintf(out, "%" PRIu64, sp->until_ns);
		if (sp->flags)
			fprintf(out, " flags=%" PRIx64, sp->flags);
		if (sp->lost)
			fprintf(out, " lost=%" PRIu64, sp->lost);
		fprintf(out, "%s\n", sp->told ? "" : " untold");
	}
	fclose(out);
	cr_assert_str_eq(text, want, "got:\n%swant:\n%s", text, want);
	free(text);
	ptc_aux_spans_release(&s);
}

static void aux(struct test *t, uint64_t time, uint64_t off, uint64_t size, uint64_t flags)
{
	pd_aux(&t->pd, 7, 0, time, off, size, flags);
}

Test(aux_join, records_and_pieces_are_cut_at_different_places)
{
	struct test t;

	begin(&t);
	aux(&t, 10, 100, 30, 0);
	aux(&t, 20, 130, 50, PERF_AUX_FLAG_TRUNCATED);
	piece(&t, 0, 7, -1, 100, 40);
	aux(&t, 30, 180, 20, PERF_AUX_FLAG_PARTIAL);
	piece(&t, 0, 7, -1, 140, 60);
	join(&t);
	expect_spans(&t, 0, NULL, "100+30 0..10\n130+50 10..20 flags=1\n180+20 20..30 flags=4\n");
	end(&t);
}

Test(aux_join, padding_is_no_part_of_the_stream_and_a_rest_without_a_record_is)
{
	const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 0 };
	struct test t;

	begin(&t);
	aux(&t, 10, 0, 13, 0);
	piece(&t, 0, 7, -1, 0, 13); /* the AUXTRACE record holds 16 bytes with padding */
	aux(&t, 20, 13, 8, 0);
	piece(&t, 0, 7, -1, 13, 32);
	join(&t);
	expect_spans(&t, 0, NULL, "0+13 0..10\n13+8 10..20\n21+24 20.. untold\n");
	expect_spans(&t, 0, &conv, "0+13 0..10\n13+8 10..20\n21+24 20..900 untold\n");
	end(&t);
	begin(&t);
	aux(&t, 10, 0, 13, 0);
	piece(&t, 0, 7, -1, 0, 13);
	piece(&t, 0, 7, -1, 64, 8);
	join(&t);
	expect_spans(&t, 0, NULL, "0+13 0..10\n64+8 10.. lost=51 untold\n");
	end(&t);
}

Test(aux_join, bytes_that_are_not_in_the_file_are_lost)
{
	struct test t;

	begin(&t);
	aux(&t, 10, 0, 48, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 20, 48, 8, PERF_AUX_FLAG_TRUNCATED); /* no byte of this range is stored */
	aux(&t, 30, 56, 24, 0);
	aux(&t, 40, 80, 100, 0);
	piece(&t, 0, 7, -1, 0, 16);
	piece(&t, 0, 7, -1, 64, 16);
	join(&t);
	expect_spans(&t, 0, NULL,
		     "0+16 0..10\n" /* its end is missing: the buffer was full */
		     "64+0 0..10 flags=1 lost=48\n64+0 10..20 flags=1\n64+16 20..30\n"
		     "180+0 30..40 lost=100\n");
	end(&t);
}

Test(aux_join, a_full_buffer_with_nothing_written_is_a_span_of_no_bytes)
{
	struct test t;

	begin(&t);
	aux(&t, 5, 0, 0, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 10, 0, 16, 0);
	aux(&t, 20, 16, 0, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 21, 16, 0, 0); /* an empty record that carries no information */
	piece(&t, 0, 7, -1, 0, 16);
	join(&t);
	expect_spans(&t, 0, NULL, "0+0 0..5 flags=1\n0+16 5..10\n16+0 10..20 flags=1\n");
	end(&t);
}

Test(aux_join, a_record_belongs_to_the_ring_of_its_cpu_or_thread)
{
	struct test t;

	begin(&t);
	aux_id(&t, 7, 0, 0, 0, 8, 0);
	aux_id(&t, 7, 1, 0, 0, 16, 0);
	aux_id(&t, 9, 5, 0, 0, 24, 0);
	aux_id(&t, 10, 5, 0, 0, 24, 0); /* matches no queue */
	piece(&t, 0, 7, 0, 0, 8);
	piece(&t, 1, 7, 1, 0, 16);
	piece(&t, 2, 9, -1, 0, 24);
	join(&t);
	expect_spans(&t, 0, NULL, "0+8 0..10\n");
	expect_spans(&t, 1, NULL, "0+16 0..10\n");
	expect_spans(&t, 2, NULL, "0+24 0..10\n");
	cr_assert_eq(t.join.unplaced, 1);
	end(&t);
}

Test(aux_join, where_cpu_and_thread_do_not_tell_the_id_does)
{
	static const uint64_t ids[3][2] = { { 33, 2 }, { 11, 1 }, { 22, 9 } };
	struct test t;

	begin(&t);
	id_index(&t, 3, ids);
	aux_id(&t, 99, 0, 33, 0, 8, 0); /* ambiguous: two queues belong to CPU 0 */
	aux_id(&t, 99, 5, 11, 0, 16, 0);
	aux_id(&t, 99, 5, 22, 0, 16, 0); /* names a queue that does not exist */
	piece(&t, 1, 7, 0, 0, 16);
	piece(&t, 2, 7, 0, 0, 8);
	join(&t);
	expect_spans(&t, 0, NULL, "0+16 0..10\n");
	expect_spans(&t, 1, NULL, "0+8 0..10\n");
	cr_assert_eq(t.join.unplaced, 1);
	end(&t);
}

Test(aux_join, with_one_queue_only_a_contradiction_parts_them)
{
	static const int32_t queues[][2] = { { -1, -1 }, { -1, 3 }, { 98, -1 } }; /* tid, cpu */
	struct test t;
	size_t i;

	for (i = 0; i < 3; i++) {
		begin(&t);
		aux_id(&t, 99, 5, 0, 0, 8, 0);
		piece(&t, 4, queues[i][0], queues[i][1], 0, 8);
		join(&t);
		expect_spans(&t, 0, NULL, i ? "0+8 0.. untold\n" : "0+8 0..10\n");
		end(&t);
	}
}

Test(aux_join, without_trace_no_record_has_a_queue)
{
	struct test t;

	begin(&t);
	aux_id(&t, 99, 5, 0, 0, 8, 0);
	join(&t);
	cr_assert_eq(t.join.unplaced, 1);
	end(&t);
}

Test(aux_join, in_overwrite_mode_each_piece_is_a_span)
{
	const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 100 };
	struct test t;

	begin(&t);
	aux(&t, 10, 64, 4096, PERF_AUX_FLAG_OVERWRITE);
	piece(&t, 0, 7, -1, 0, 64);
	piece(&t, 0, 7, -1, 32, 64);
	join(&t);
	expect_spans(&t, 0, NULL, "0+64 0.. flags=2 untold\n32+64 0.. flags=2 untold\n");
	expect_spans(&t, 0, &conv,
		     "0+64 0..1000 flags=2 untold\n32+64 1000..1000 flags=2 untold\n");
	end(&t);
	/* Offsets that go backwards cannot be matched either. */
	begin(&t);
	aux(&t, 10, 32, 64, 0);
	piece(&t, 0, 7, -1, 32, 64);
	piece(&t, 0, 7, -1, 0, 64);
	join(&t);
	expect_spans(&t, 0, NULL, "32+64 0.. untold\n0+64 0.. untold\n");
	end(&t);
}

Test(aux_join, absurd_records_do_no_harm)
{
	struct test t;

	begin(&t);
	aux(&t, 10, 8, UINT64_MAX, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 10, UINT64_MAX, UINT64_MAX, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 10, UINT64_MAX, 0, PERF_AUX_FLAG_TRUNCATED);
	aux(&t, 10, 4, 2, 0);
	aux(&t, 10, 4, 100, 0);
	piece(&t, 0, 7, -1, 0, 16);
	piece(&t, 0, 7, -1, UINT64_MAX - 8, 8);
	join(&t);
	expect_spans(&t, 0, NULL,
		     "0+4 0.. untold\n4+2 0..10\n6+10 10..10\n"
		     "18446744073709551607+8 10..10 flags=1 lost=18446744073709551591\n"
		     "18446744073709551615+0 10..10 flags=1\n"
		     "18446744073709551615+0 10..10 flags=1\n");
	end(&t);
}

Test(aux_join, an_id_index_that_is_cut_is_refused)
{
	static const uint64_t ids[2][2] = { { 1, 1 }, { 2, 2 } };
	struct ptc_rec rec = { .type = PTC_REC_ID_INDEX };
	struct ptc_aux_join j = PTC_AUX_JOIN_INIT;
	struct ptc_err err;
	struct test t;
	uint8_t *bytes;
	uint32_t idx;
	size_t n;

	begin(&t);
	ptc_buf_reset(&t.pd.data);
	id_index(&t, 2, ids);
	for (n = 0; n < 72; n++) {
		bytes = pd_exact(t.pd.data.bytes + 8, n);
		rec.body = ptc_cur_init(bytes, n);
		cr_assert_eq(ptc_aux_join_ids(&j, &rec, &err), PTC_E_FORMAT);
		free(bytes);
	}
	rec.body = ptc_cur_init(t.pd.data.bytes + 8, 72);
	cr_assert_eq(ptc_aux_join_ids(&j, &rec, &err), 0);
	cr_assert(ptc_aux_join_idx(&j, 2, &idx) && idx == 2);
	cr_assert(!ptc_aux_join_idx(&j, 3, &idx) && !ptc_aux_join_idx(&j, 0, &idx));
	ptc_aux_join_release(&j);
	pd_release(&t.pd);
}
