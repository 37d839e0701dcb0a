/* SPDX-License-Identifier: MIT */
/*
 * Description: whole recordings: missing trace, known from its bytes and from sideband records;
 * samples.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "recording.h"

Test(open_loss, bytes_missing_between_pieces_are_a_gap)
{
	struct recording t;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 10);
	rec_syscall_at(&t.a, 20, 0x1000);
	ptc_buf_zero(&t.a, 8 - t.a.len % 8);
	rec_psb_at(&t.b, 30);
	rec_syscall_at(&t.b, 40, 0x1000);
	cr_assert_eq(t.a.len, 0x30);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 0, 7, -1, 0x1000, &t.b);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 30 fd0 lost\n"
		       "7 0 1016 start\n7 1016 0 syscall\n");
	cr_assert_eq(t.stats.gaps[PTC_GAP_LOST], 1);
	rec_end(&t);
}

Test(open_loss, what_is_missing_between_snapshots_was_not_kept)
{
	struct ptc_buf c = PTC_BUF_INIT;
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	rec_set_info(&t, REC_INFO_SNAPSHOTS, 1);
	rec_map_code(&t, 7, 0, 0x1000);
	rec_map_code(&t, 8, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 2, 5);
	pt_tnt(&t.a, "TNTNTNTN"); /* before the first PSB */
	ptc_buf_zero(&t.a, 8 - t.a.len % 8);
	rec_psb_at(&t.a, 10);
	rec_syscall_at(&t.a, 20, 0x1000);
	ptc_buf_zero(&t.a, 8 - t.a.len % 8);
	rec_psb_at(&t.b, 30); /* goes on */
	rec_syscall_at(&t.b, 40, 0x1000);
	ptc_buf_zero(&t.b, 8 - t.b.len % 8);
	pd_switch(&t.pd, 7, 2, 45, true); /* not in the kept trace */
	pd_switch(&t.pd, 8, 2, 46, false);
	pt_ip_none(&c, PT_PGD);
	pt_psb_on_at(&c, 50, 0x1016);
	pt_ip_none(&c, PT_PGD);
	cr_assert_eq(t.a.len, 0x38);
	cr_assert_eq(t.b.len, 0x30);
	rec_piece(&t, 2, -1, 2, 0x100, &t.a);
	rec_piece(&t, 2, -1, 2, 0x138, &t.b);
	rec_piece(&t, 2, -1, 2, 0x1000, &c);
	rec_expect(&t, "-1 gap 2 0 108 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"
		       "7 0 1016 start\n7 1016 0 syscall\n-1 gap 2 168 e99 snapshot\n"
		       "8 1016 0 syscall\n");
	cr_assert_eq(t.stats.gaps[PTC_GAP_SNAPSHOT], 2);
	t.opts.tids = (struct ptc_ids){ &(struct ptc_id_range){ 7, 7 },
					1 }; /* the gap stays although only thread 7 is selected */
	rec_expect(&t, "-1 gap 2 0 108 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"
		       "7 0 1016 start\n7 1016 0 syscall\n-1 gap 2 168 e99 snapshot\n");
	rec_end(&t);
}

Test(open_loss, losses_that_records_tell_of_are_gaps)
{
	struct ptc_sb lost = {
		.type = PERF_RECORD_LOST,
		.id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7, .time = 20, .id = PD_ID_DUMMY },
		.u.lost = { .id = PD_ID_DUMMY, .lost = 5 }
	};
	struct recording t;
	size_t len;

	rec_begin_traced(&t);
	len = t.a.len;
	rec_syscall_at(&t.a, 30, 0x1000);
	pd_sb(&t.pd, &lost);
	pd_aux(&t.pd, 7, 0, 15, 0, len, PERF_AUX_FLAG_PARTIAL);
	pd_aux(&t.pd, 7, 0, 35, len, t.a.len - len, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 8, 0, 35, len, t.a.len - len, PERF_AUX_FLAG_TRUNCATED); /* of another queue */
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	t.opts.insns = false;
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 2c 0 partial\n"
		       "7 gap 0 36 0 lost\n7 0 1016 start\n7 1016 0 syscall\n"
		       "7 gap 0 3e 0 truncated\n");
	cr_assert_str_eq(t.note, "5 records were lost while recording");
	rec_end(&t);
}

/*
 * The flow goes up to the call at 1006, whose return would come next. Then a loss leaves no OVF:
 * the bytes behind it belong to another flow. Returns the offset of the loss in the AUX stream.
 */
static size_t lose_silently(struct ptc_buf *b)
{
	size_t at;

	rec_psb_at(b, 1);
	pt_tsc(b, 10);
	pt_enable(b, 0x1000);
	pt_tnt(b, "T");
	at = b->len;
	pt_tnt(b, "T");		  /* would be the return at 1025 ... */
	pt_ip(b, PT_TIP, 0x1016); /* ... and the jump at 100b */
	pt_ip_none(b, PT_PGD);
	return at;
}

Test(open_loss, trace_that_records_tell_of_and_the_file_does_not_have_is_a_gap)
{
	struct recording t;

	rec_begin_traced(&t);
	ptc_buf_zero(&t.a, 8 - t.a.len % 8);
	cr_assert_eq(t.a.len, 0x30);
	pd_aux(&t.pd, 7, 0, 15, 0, 0x30, 0);
	pd_aux(&t.pd, 7, 0, 25, 0x30, 0x100, 0);
	rec_expect_one(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 30 100 lost\n");
}

/* libipt has read everything, and the last branch is not listed yet. */
Test(open_loss, what_is_missing_at_the_end_is_behind_the_last_transfer)
{
	struct recording t;

	rec_begin_code(&t);
	rec_psb_at(&t.a, 1);
	pt_tsc(&t.a, 10);
	pt_enable(&t.a, 0x1000);
	pt_tnt(&t.a, "T");
	ptc_buf_zero(&t.a, 8 - t.a.len % 8);
	pt_tsc(&t.a, 50);
	cr_assert_eq(t.a.len, 0x38);
	pd_aux(&t.pd, 7, 0, 15, 0, 0x138, 0);
	rec_expect_one(&t, "7 0 1000 start\n7 1000 1003 jcc\n"
			   "7 gap 0 38 100 lost\n");
}

Test(open_loss, decoding_does_not_read_on_where_the_buffer_was_full)
{
	struct recording t;
	char want[256];
	size_t at, psb;

	rec_begin_code(&t);
	at = lose_silently(&t.a);
	psb = t.a.len;
	rec_psb_at(&t.a, 30);
	rec_syscall_at(&t.a, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, at, t.a.len - at, 0);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	snprintf(want, sizeof(want),
		 "7 0 1000 start\n7 1000 1003 jcc\n"
		 "7 gap 0 %zx %zx truncated\n7 0 1016 start\n7 1016 0 syscall\n",
		 at, psb - at);
	rec_expect(&t, want);
	cr_assert_eq(t.stats.gaps[PTC_GAP_TRUNCATED], 1);
	rec_end(&t);
}

Test(open_loss, what_is_left_of_a_packet_the_full_buffer_cut_off_is_of_the_same_gap)
{
	struct recording t;
	char want[256];
	size_t at, first, psb;

	rec_begin_traced(&t);
	at = t.a.len;
	ptc_buf_put(&t.a, "\x19\x7f\x7f", 3); /* a part of a TSC */
	first = t.a.len;
	pt_tnt(&t.b, "TTTT");
	psb = first + t.b.len;
	rec_psb_at(&t.b, 30);
	rec_syscall_at(&t.b, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, first, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, first, t.b.len, 0);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 0, 7, -1, first, &t.b);
	snprintf(want, sizeof(want),
		 "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 %zx %zx truncated\n"
		 "7 0 1016 start\n7 1016 0 syscall\n",
		 at, psb - at);
	rec_expect(&t, want);
	rec_end(&t);
}

/*
 * The buffer was full, full again before a PSB, and full with nothing written since: two offsets.
 */
Test(open_loss, each_place_where_the_buffer_was_full_is_a_gap)
{
	struct recording t;
	char want[256];
	size_t at[2], psb;

	rec_begin_traced(&t);
	at[0] = t.a.len;
	pt_tnt(&t.a, "TTTTTTTTTTTT");
	at[1] = t.a.len;
	pt_tnt(&t.a, "TTTTTT");
	psb = t.a.len;
	rec_psb_at(&t.a, 30);
	rec_syscall_at(&t.a, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at[0], PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 20, at[0], at[1] - at[0], PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 21, at[1], 0, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, at[1], t.a.len - at[1], PERF_AUX_FLAG_TRUNCATED);
	snprintf(want, sizeof(want),
		 "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 %zx %zx truncated\n"
		 "7 gap 0 %zx %zx truncated\n7 0 1016 start\n7 1016 0 syscall\n"
		 "7 gap 0 %zx 0 truncated\n",
		 at[0], at[1] - at[0], at[1], psb - at[1], t.a.len);
	rec_expect_one(&t, want);
}

Test(open_loss, a_full_buffer_in_front_of_missing_bytes_is_told_apart_from_them)
{
	struct recording t;
	size_t at;

	rec_begin_traced(&t);
	at = t.a.len;
	cr_assert_eq(at, 0x2c);
	rec_psb_at(&t.b, 30);
	rec_syscall_at(&t.b, 40, 0x1000);
	pd_aux(&t.pd, 7, 0, 15, 0, at, PERF_AUX_FLAG_TRUNCATED);
	pd_aux(&t.pd, 7, 0, 45, 0x1000, t.b.len, 0);
	rec_piece(&t, 0, 7, -1, 0, &t.a);
	rec_piece(&t, 0, 7, -1, 0x1000, &t.b);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 2c 0 truncated\n"
		       "7 gap 0 2c fd4 lost\n7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

/* Two ring buffers whose AUX records differ only in their ids. */
Test(open_loss, a_loss_is_of_the_queue_whose_id_the_record_has)
{
	struct ptc_sb sb = { .type = PERF_RECORD_AUX,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 5, .tid = 5, .cpu = 99 } };
	struct recording t;
	uint64_t i, k;
	size_t start;

	rec_begin_two(&t, 0x1000);
	start = ptc_rec_begin(&t.pd.data, PTC_REC_ID_INDEX, 0);
	ptc_buf_le64(&t.pd.data, 2);
	for (i = 0; i < 2; i++) {
		const uint64_t entry[] = { PD_ID_PT + i, 3 + i, UINT64_MAX, UINT64_MAX };

		for (k = 0; k < 4; k++)
			ptc_buf_le64(&t.pd.data, entry[k]);
	}
	ptc_rec_end(&t.pd.data, start);
	rec_first_syscall(&t);
	rec_psb_at(&t.b, 1);
	rec_syscall_at(&t.b, 20, 0x1000);
	sb.id.id = PD_ID_PT + 1;
	sb.id.time = 30;
	sb.u.aux = (struct ptc_sb_aux){ 0, t.b.len, PERF_AUX_FLAG_TRUNCATED };
	pd_sb(&t.pd, &sb);
	rec_piece(&t, 3, 7, -1, 0, &t.a);
	rec_piece(&t, 4, 8, -1, 0, &t.b);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n8 0 1016 start\n8 1016 0 syscall\n"
		       "8 gap 4 2c 0 truncated\n");
	rec_end(&t);
}

/* Adds a sample of event PD_ID_PT with these bytes as its trace. */
static void sample_on(struct recording *t, int32_t tid, uint32_t cpu, uint64_t time,
		      const uint8_t *bytes, size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_le64(&b, PD_ID_PT); /* IDENTIFIER IP TID TIME CPU AUX */
	ptc_buf_le64(&b, 0x1000);
	ptc_buf_le32(&b, (uint32_t)tid);
	ptc_buf_le32(&b, (uint32_t)tid);
	ptc_buf_le64(&b, time);
	ptc_buf_le64(&b, cpu);
	ptc_buf_le64(&b, len);
	ptc_buf_put(&b, bytes, len);
	pd_raw(&t->pd, PERF_RECORD_SAMPLE, 0, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void sample(struct recording *t, int32_t tid, uint64_t time, const uint8_t *bytes,
		   size_t len)
{
	sample_on(t, tid, 0, time, bytes, len);
}

Test(open_loss, trace_in_samples_is_decoded_and_what_two_have_once)
{
	struct recording t;
	size_t at[2], third;

	rec_begin(&t, &rec_clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	rec_map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	rec_psb_at(&t.a, 10);
	rec_syscall_at(&t.a, 20, 0x1000);
	at[0] = t.a.len;
	rec_psb_at(&t.a, 30);
	rec_syscall_at(&t.a, 40, 0x1000);
	at[1] = t.a.len;
	rec_syscall_at(&t.a, 50, 0x1000);
	third = t.a.len;
	rec_syscall_at(&t.a, 60, 0x1000); /* in no sample */
	sample(&t, 7, 45, t.a.bytes, at[1]);
	sample(&t, 7, 55, t.a.bytes + at[0] - 5, third - at[0] + 5);
	rec_psb_at(&t.a, 70);
	rec_syscall_at(&t.a, 80, 0x1003 - 0x16);
	sample(&t, 7, 85, t.a.bytes + third + 18, t.a.len - third - 18);
	ptc_buf_release(&t.a);
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n"
		       "7 0 1016 start\n7 1016 0 syscall\n-1 gap 0 6a 0 snapshot\n"
		       "7 0 1003 start\n7 1003 1006 jmp\n7 1006 1024 call\n7 1025 0 ret\n");
	rec_end(&t);
}

/*
 * Adds @n PSBs at 100, 200, ..., each with a syscall behind it. at[i]: offset of the i-th; at[n]:
 * the end.
 */
static void psbs(struct ptc_buf *b, size_t *at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		at[i] = b->len;
		rec_psb_at(b, 100 * i + 100);
		rec_syscall_at(b, 100 * i + 150, 0x1000);
	}
	at[n] = b->len;
}

Test(open_loss, what_samples_do_not_have_is_told_and_is_no_loss)
{
	struct recording t;
	size_t at[10];

	rec_begin(&t, &rec_clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	rec_map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	psbs(&t.a, at, 9);
	/* The end of the first one's trace, from inside a packet on, and all of the second's. */
	sample(&t, 7, 260, t.a.bytes + at[1] - 5, at[2] - at[1] + 5);
	/* Nothing new: the same trace again, and a part of it. */
	sample(&t, 7, 265, t.a.bytes + at[1] - 5, at[2] - at[1] + 5);
	sample(&t, 7, 266, t.a.bytes + at[1], at[2] - at[1]);
	/* No sample has 300. This sample goes on; the next one too, with more in front. */
	sample(&t, 7, 460, t.a.bytes + at[3] - 9, at[4] - at[3] + 9);
	sample(&t, 7, 560, t.a.bytes + at[3], at[5] - at[3]);
	/* Without a PSB it cannot be decoded. */
	sample(&t, 7, 660, t.a.bytes + at[5] + 26, at[6] - at[5] - 26);
	sample(&t, 7, 760, t.a.bytes + at[6], at[7] - at[6]);
	/* No trace at all. */
	sample(&t, 7, 770, t.a.bytes, 0);
	sample(&t, 7, 960, t.a.bytes + at[7], at[9] - at[7]);
	ptc_buf_release(&t.a);
	rec_expect(&t, "-1 gap 0 0 5 snapshot\n7 0 1016 start\n7 1016 0 syscall\n"  /* 200 */
		       "-1 gap 0 31 9 snapshot\n7 0 1016 start\n7 1016 0 syscall\n" /* 400 */
		       "7 0 1016 start\n7 1016 0 syscall\n"			    /* 500 */
		       "-1 gap 0 92 12 snapshot\n-1 gap 0 a4 0 snapshot\n"
		       "7 0 1016 start\n7 1016 0 syscall\n"			    /* 700 */
		       "-1 gap 0 d0 0 snapshot\n7 0 1016 start\n7 1016 0 syscall\n" /* 800 */
		       "7 0 1016 start\n7 1016 0 syscall\n");			    /* 900 */
	cr_assert_eq(t.stats.gaps[PTC_GAP_LOST], 0);
	cr_assert_eq(t.stats.gaps[PTC_GAP_DESYNC], 0);
	rec_end(&t);
}

/* Adds a sample with a PSB at @psb and a syscall at @at. */
static void short_sample(struct recording *t, int32_t tid, uint32_t cpu, uint64_t psb, uint64_t at)
{
	struct ptc_buf a = PTC_BUF_INIT;

	rec_psb_at(&a, psb);
	rec_syscall_at(&a, at, 0x1000);
	sample_on(t, tid, cpu, at + 5, a.bytes, a.len);
	ptc_buf_release(&a);
}

/*
 * Thread 7 is on CPU 0 from 1 to @leaves, and then on CPU 1. A sample of CPU 1 has the trace from
 * 200 on.
 */
static void moves_between_samples(uint64_t leaves, uint64_t comes, const char *want)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	rec_map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	short_sample(&t, 7, 0, 10, 20); /* up to 25 */
	pd_switch(&t.pd, 7, 0, leaves, true);
	pd_switch(&t.pd, 7, 1, comes, false);
	short_sample(&t, 7, 1, 200, 250);
	rec_expect(&t, want);
	rec_end(&t);
}

Test(open_loss, a_thread_that_moved_between_samples_is_not_joined)
{
	/* The thread is there when the sample's trace begins: nothing since it left is missing. */
	moves_between_samples(
		23, 220, "7 0 1016 start\n7 1016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n");
	/* The thread came earlier, or left later than the kept trace. */
	moves_between_samples(23, 100,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
	moves_between_samples(90, 220,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
	moves_between_samples(90, 100,
			      "7 0 1016 start\n7 1016 0 syscall\n7 gap 0 0 0 snapshot\n"
			      "7 0 1016 start\n7 1016 0 syscall\n");
}

/* In between the thread was on another CPU, which has no sample, or only an older one. */
static void was_away(bool is_known)
{
	struct recording t;

	rec_begin(&t, &rec_clock_1ns);
	t.pd.attrs[0].attr.sample_type |= PERF_SAMPLE_AUX;
	rec_map_code(&t, 7, 0, 0x1000);
	pd_itrace_start(&t.pd, 7, 0, 1);
	if (is_known) {
		rec_map_code(&t, 8, 0, 0x1000);
		pd_itrace_start(&t.pd, 8, 1, 1);
		short_sample(&t, 8, 1, 5, 8);
	}
	short_sample(&t, 7, 0, 10, 20);
	pd_switch(&t.pd, 7, 0, 22, true);
	pd_switch(&t.pd, 7, 1, 23, false);
	pd_switch(&t.pd, 7, 1, 30, true);
	pd_switch(&t.pd, 7, 2, 215, false);
	short_sample(&t, 7, 2, 200, 250);
	rec_expect(&t, is_known ? "8 0 1016 start\n8 1016 0 syscall\n"
				  "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
				  "7 0 1016 start\n7 1016 0 syscall\n" :
				  "7 0 1016 start\n7 1016 0 syscall\n7 gap 1 0 0 snapshot\n"
				  "7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

Test(open_loss, a_cpu_without_a_sample_at_that_time_is_a_gap_of_who_was_there)
{
	was_away(false);
	was_away(true);
}
