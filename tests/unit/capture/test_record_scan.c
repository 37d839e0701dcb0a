/* SPDX-License-Identifier: MIT */
/* Description: the session sees every loss record and every mapped file that passes through it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/record.h"
#include "auxtrace/record/sideband.h"
#include "capture/session/record_scan.h"

#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static void put(struct ptc_buf *b, struct ptc_sb *sb, uint64_t time)
{
	sb->id.has = SAMPLE_TYPE;
	sb->id.time = time;
	ptc_sb_put(b, sb, SAMPLE_TYPE);
}

/* Adds a SAMPLE with IDENTIFIER, TID, TIME and more; a small @size cuts it. */
static void put_sample(struct ptc_buf *b, uint64_t time, size_t size)
{
	const size_t start = ptc_rec_begin(b, PERF_RECORD_SAMPLE, 0);

	ptc_buf_zero(b, 16);
	if (size > 16)
		ptc_buf_le64(b, time);
	if (size > 24)
		ptc_buf_zero(b, size - 24);
	ptc_rec_end(b, start);
}

static void put_all(struct ptc_buf *b)
{
	struct ptc_sb lost = { .type = PERF_RECORD_LOST, .u.lost = { .id = 1, .lost = 7 } };
	struct ptc_sb aux = { .type = PERF_RECORD_AUX };
	struct ptc_sb map = { .type = PERF_RECORD_MMAP2 };

	put_sample(b, 200, 64);
	put_sample(b, 250, 24);
	put(b, &lost, 500);
	aux.u.aux.flags = PERF_AUX_FLAG_TRUNCATED;
	put(b, &aux, 300);
	aux.u.aux.flags = PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_TRUNCATED;
	put(b, &aux, 900);
	map.u.mmap.filename = "/usr/bin/true";
	put(b, &map, 0); /* synthesised: no time */
	put(b, &map, 400);
	map.u.mmap.filename = "[vdso]";
	put(b, &map, 400);
	map.u.mmap.filename = "//anon";
	put(b, &map, 400);
	map.u.mmap.filename = "/usr/lib/b.so";
	put(b, &map, 400);
	put_sample(b, 0, 64); /* none */
	put_sample(b, 1000, 32);
	put_sample(b, 5, 16); /* too short to have a time */
}

static void check(const struct ptc_noted *n, const struct ptc_ledger_ring *l)
{
	cr_assert_eq(l->lost_records, 7);
	cr_assert_eq(l->truncated, 2);
	cr_assert_eq(l->partial, 1);
	cr_assert_eq(n->samples, 5);
	cr_assert_eq(n->first_ns, 200);
	cr_assert_eq(n->last_ns, 1000);
	cr_assert_eq(n->nfiles, 2);
	cr_assert_str_eq(n->files[0].name, "/usr/bin/true");
	cr_assert_str_eq(n->files[1].name, "/usr/lib/b.so");
}

Test(record_scan, losses_times_and_files_are_noted_wherever_the_ring_wraps)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t cut;

	put_all(&b);
	cr_assert_not(ptc_buf_failed(&b));
	for (cut = 0; cut <= b.len; cut++) {
		struct ptc_ledger_ring ledger = { .idx = 0 };
		struct ptc_noted n;
		struct ptc_err err;
		uint8_t *front = malloc(cut ? cut : 1),
			*back = malloc(b.len - cut ? b.len - cut : 1);
		const struct ptc_seg seg[2] = { { front, cut }, { back, b.len - cut } };

		memcpy(front, b.bytes, cut);
		memcpy(back, b.bytes + cut, b.len - cut);
		ptc_noted_init(&n, SAMPLE_TYPE);
		cr_assert_eq(ptc_noted_scan(&n, seg, &ledger, &err), 0);
		check(&n, &ledger);
		ptc_noted_release(&n);
		free(front);
		free(back);
	}
	ptc_buf_release(&b);
}

/* A file is identified by its name and build-id; without a build-id, by its name and inode. */
Test(record_scan, code_is_that_of_a_file_that_was_noted)
{
	struct ptc_sb with = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_MMAP_BUILD_ID };
	struct ptc_sb without = { .type = PERF_RECORD_MMAP2 };
	struct ptc_filecode c = { .name = "/a" };
	struct ptc_ledger_ring ledger = { .idx = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_seg seg[2] = { { NULL, 0 }, { NULL, 0 } };
	struct ptc_noted n;
	struct ptc_err err;

	with.u.mmap.filename = "/a";
	with.u.mmap.build_id = (struct ptc_build_id){ .len = 20, .bytes = { 1 } };
	without.u.mmap.filename = "/b";
	without.u.mmap.maj = 8;
	without.u.mmap.ino = 7;
	put(&b, &with, 1);
	put(&b, &without, 2);
	seg[0] = (struct ptc_seg){ b.bytes, b.len };
	ptc_noted_init(&n, SAMPLE_TYPE);
	cr_assert_eq(ptc_noted_scan(&n, seg, &ledger, &err), 0);
	c.ino = 5;
	cr_assert_not(ptc_noted_has(&n, &c));
	c.id = with.u.mmap.build_id;
	cr_assert(ptc_noted_has(&n, &c));
	c.id.bytes[0] = 2;
	cr_assert_not(ptc_noted_has(&n, &c));
	c = (struct ptc_filecode){ .name = "/b", .maj = 8, .ino = 7 };
	cr_assert(ptc_noted_has(&n, &c));
	c.ino = 8;
	cr_assert_not(ptc_noted_has(&n, &c));
	c = (struct ptc_filecode){ .name = "/c", .maj = 8, .ino = 7 };
	cr_assert_not(ptc_noted_has(&n, &c));
	ptc_noted_release(&n);
	ptc_buf_release(&b);
}
