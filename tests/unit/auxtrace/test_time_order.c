/* SPDX-License-Identifier: MIT */
/* Description: records in time order, with FINISHED_ROUND as perf defines it. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/time_order.h"
#include "lib_perfdata.h"

/*
 * Adds a COMM for each time; 'R' adds a FINISHED_ROUND. Times have one or more digits and are
 * separated by blanks.
 */
static void put(struct pd *p, const char *times)
{
	int32_t tid = 1; /* number of the record */
	char *end;

	for (; *times; times = end) {
		if (*times == ' ' || *times == 'R') {
			if (*times == 'R')
				pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
			end = (char *)(uintptr_t)times + 1;
			continue;
		}
		pd_comm(p, tid++, strtoull(times, &end, 10), "x", false);
	}
}

/*
 * Returns "TIME:TID " for each COMM, "R " for a round, "AUX " for an AUX record. Frees @o.
 */
static char *list_records(struct ptc_order *o, struct ptc_order_stats *stats)
{
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t time;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);
	int r;

	while ((r = ptc_order_next(o, &rec, &time, &err)) > 0) {
		if (rec.type == PTC_REC_FINISHED_ROUND)
			fprintf(out, "R ");
		else if (rec.type == PERF_RECORD_COMM)
			fprintf(out, "%" PRIu64 ":%" PRIu32 " ", time, ptc_le32(rec.body.pos + 4));
		else if (rec.type == PERF_RECORD_AUX)
			fprintf(out, "AUX ");
	}
	cr_assert_eq(r, 0);
	cr_assert_eq(ptc_order_next(o, &rec, &time, &err), 0); /* still at the end */
	ptc_order_get_stats(o, stats);
	ptc_order_free(o);
	fclose(out);
	return text;
}

static char *run(const struct ptc_file *f, const struct ptc_order_opts *opts,
		 struct ptc_order_stats *stats)
{
	struct ptc_order *o;
	struct ptc_err err;

	cr_assert_eq(ptc_order_new(f, opts, &o, &err), 0);
	return list_records(o, stats);
}

/* Opens the recording of @p, whose bytes the caller frees behind the file. */
static struct ptc_file *open_recording(struct pd *p, uint8_t **ret_bytes)
{
	struct ptc_file *f;
	struct ptc_err err;
	size_t len;

	*ret_bytes = pd_finish(p, &len);
	cr_assert_eq(ptc_file_open_bytes(*ret_bytes, len, "test", &f, &err), 0);
	return f;
}

static struct ptc_order_stats expect(const char *times, const struct ptc_order_opts *opts,
				     const char *want)
{
	struct ptc_order_stats stats = PTC_ORDER_STATS_INIT;
	struct ptc_file *f;
	struct pd p;
	uint8_t *bytes;
	char *got;

	pd_init_pt(&p, NULL);
	put(&p, times);
	f = open_recording(&p, &bytes);
	got = run(f, opts, &stats);
	cr_assert_str_eq(got, want, "got:  %s\nwant: %s", got, want);
	free(got);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
	return stats;
}

static const struct ptc_order_opts no_rounds = { .size = sizeof(no_rounds), .no_rounds = true };

Test(time_order, what_is_not_younger_than_the_round_before_the_last_goes_out_at_a_mark)
{
	const struct ptc_order_stats s = expect("50 20 R 40 60 30 R 70 55 R 80", NULL,
						"R R 20:2 30:5 40:3 50:1 R 55:7 60:4 70:6 80:8 ");

	cr_assert_eq(s.unordered, 0);
	cr_assert_eq(s.late, 0);
	cr_assert_eq(s.waiting_max, 5);
}

Test(time_order, equal_times_keep_the_order_of_the_file)
{
	expect("7 5 5 7 5 R 5 7 7 R 5 R", NULL, "R R 5:2 5:3 5:5 5:6 7:1 7:4 7:7 7:8 R 5:9 ");
	expect("9 9 9 9 9 9 9 9", NULL, "9:1 9:2 9:3 9:4 9:5 9:6 9:7 9:8 ");
}

Test(time_order, what_breaks_the_promise_is_counted_and_given_all_the_same)
{
	const struct ptc_order_stats s =
		expect("50 R 60 R 20 10 70 R 30", NULL, "R R 50:1 R 10:4 20:3 60:2 30:6 70:5 ");

	cr_assert_eq(s.unordered, 3);
}

Test(time_order, without_belief_in_rounds_all_is_sorted)
{
	const struct ptc_order_stats s =
		expect("50 R 60 R 10 70 R 20", &no_rounds, "R R R 10:3 20:5 50:1 60:2 70:4 ");

	cr_assert_eq(s.unordered, 0);
}

Test(time_order, records_without_a_time_come_when_they_are_met)
{
	struct ptc_order_stats s;

	s = expect("0 0 50 0 20 R 18446744073709551615 60", NULL,
		   "0:1 0:2 0:4 R 0:6 20:5 50:3 60:7 ");
	cr_assert_eq(s.late, 0);
	s = expect("20 R R 0", NULL, "R R 20:1 0:2 ");
	cr_assert_eq(s.late, 1);
}

Test(time_order, skipped_aux_records_change_neither_the_order_nor_the_counters)
{
	struct ptc_order_stats stats = PTC_ORDER_STATS_INIT;
	struct ptc_order *o;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	char *got;

	pd_init_pt(&p, NULL);
	put(&p, "50 20 R");
	pd_aux(&p, 1, 0, 90, 0, 8, 0);
	put(&p, "40 R");
	pd_aux(&p, 1, 0, 10, 8, 8, 0);
	put(&p, "60");
	f = open_recording(&p, &bytes);
	cr_assert_eq(ptc_order_new(f, NULL, &o, &err), 0);
	ptc_order_skip_aux(o);
	got = list_records(o, &stats);
	cr_assert_str_eq(got, "R R 20:2 40:1 50:1 60:1 ", "got: %s", got);
	cr_assert_eq(stats.unordered, 0);
	cr_assert_eq(stats.waiting_max, 3);
	free(got);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(time_order, no_more_wait_than_there_is_room_for)
{
	struct ptc_order_opts opts = { .size = sizeof(opts), .max = 2 };
	struct ptc_order_stats s;

	/* The buffer is large enough if no record is more than two places late. */
	s = expect("2 3 1 5 6 4 8 9 7", &opts, "1:3 2:1 3:2 4:6 5:4 6:5 7:9 8:7 9:8 ");
	cr_assert_eq(s.unordered, 0);
	cr_assert_eq(s.waiting_max, 3);
	s = expect("5 6 7 8 1", &opts, "5:1 6:2 1:5 7:3 8:4 ");
	cr_assert_eq(s.unordered, 1);
}

Test(time_order, a_recording_without_times_is_as_it_is)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .size = PERF_ATTR_SIZE_VER7,
					      .sample_type = PERF_SAMPLE_TID,
					      .sample_id_all = 1 };
	struct ptc_order_stats stats = PTC_ORDER_STATS_INIT;
	const uint64_t id = 1;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len, i;
	char *got;

	pd_init(&p);
	pd_attr(&p, &attr, &id, 1);
	for (i = 0; i < 3; i++) {
		const uint32_t comm[] = { 9, 3 - (uint32_t)i, 'x', 0, 9, 9 };

		pd_raw(&p, PERF_RECORD_COMM, 0, comm, sizeof(comm));
	}
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	got = run(f, NULL, &stats);
	cr_assert_str_eq(got, "0:3 0:2 0:1 ");
	free(got);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(time_order, a_damaged_record_ends_it_with_an_error)
{
	struct ptc_order *o;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct pd p;
	uint64_t time;
	uint8_t *bytes;
	size_t len;
	int r;

	pd_init_pt(&p, NULL);
	put(&p, "5 3");
	pd_raw(&p, PERF_RECORD_COMM, 0, "12345678", 8);
	p.data.bytes[p.data.len - 10] = 4; /* its size field */
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_order_new(f, NULL, &o, &err), 0);
	while ((r = ptc_order_next(o, &rec, &time, &err)) > 0)
		cr_assert_neq(rec.type, PERF_RECORD_COMM);
	cr_assert_eq(r, PTC_E_FORMAT);
	ptc_order_free(o);
	ptc_order_free(NULL);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Compares with an independent stable sort: many records, few distinct times, random rounds. */
Test(time_order, many_records_come_as_a_stable_sort_would_have_them)
{
	enum { MANY = 20000 };
	static uint64_t times[MANY];
	const struct ptc_order_opts all = { .size = sizeof(all), .no_rounds = true };
	struct ptc_order *o;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t time, last = 0, x = 1;
	uint32_t tid, last_tid = 0, seen = 0;
	struct pd p;
	uint8_t *bytes;
	size_t len;
	int32_t i;

	pd_init_pt(&p, NULL);
	for (i = 0; i < MANY; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		times[i] = 1 + (x >> 33) % 500;
		pd_comm(&p, i, times[i], "x", false);
		if (x >> 60 == 0)
			pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	}
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_order_new(f, &all, &o, &err), 0);
	while (ptc_order_next(o, &rec, &time, &err) > 0) {
		if (rec.type != PERF_RECORD_COMM)
			continue;
		tid = ptc_le32(rec.body.pos + 4);
		cr_assert_eq(times[tid], time);
		cr_assert(time > last || (time == last && tid > last_tid) || !seen);
		last = time;
		last_tid = tid;
		seen++;
	}
	cr_assert_eq(seen, MANY);
	ptc_order_free(o);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}
