/* SPDX-License-Identifier: MIT */
/*
 * Description: sideband records are kept unchanged while the rings may hold trace of their time,
 * and are compacted later. They are in time order across all rings, and their number is bounded.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/record/sideband.h"
#include "base/buf.h"
#include "capture/snapshot/retained_records.h"
#include "fewer.h"

#define TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

enum { RINGS = 2, AUX = 4096, ID = 77 };

struct scene {
	struct ptc_kept *kept;
	struct ptc_ledger_ring ledger[RINGS];
	struct ptc_err err;
};

static const char *proc; /* used by the next scene_init(); NULL: no look-ups in /proc */

static void scene_init(struct scene *s, size_t max_bytes)
{
	const struct ptc_source_ring rings[RINGS] = { { .aux_size = AUX }, { .aux_size = AUX } };
	const struct ptc_kept_opts opts = { .sample_type = TYPE,
					    .id = ID,
					    .rings = rings,
					    .nrings = RINGS,
					    .max_bytes = max_bytes,
					    .proc = proc };

	memset(s, 0, sizeof(*s));
	cr_assert_eq(ptc_kept_new(&opts, &s->kept, &s->err), 0);
}

static void add(struct scene *s, size_t ring, uint64_t time, struct ptc_sb *sb)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_seg seg[2] = { { NULL, 0 }, { NULL, 0 } };

	sb->id = (struct ptc_sample_id){ .time = time, .pid = 5, .tid = 5, .id = ID };
	sb->id.cpu = (uint32_t)ring;
	ptc_sb_put(&b, sb, TYPE);
	seg[0] = (struct ptc_seg){ b.bytes, b.len / 2 }; /* split at the ring's end */
	seg[1] = (struct ptc_seg){ b.bytes + b.len / 2, b.len - b.len / 2 };
	cr_assert_eq(ptc_kept_add(s->kept, ring, seg, &s->ledger[ring], &s->err), 0, "%s",
		     s->err.msg);
	ptc_buf_release(&b);
}

static void add_mmap(struct scene *s, size_t ring, uint64_t time, uint64_t addr, const char *name)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER };

	sb.u.mmap = (struct ptc_sb_mmap){ .pid = 5,
					  .tid = 5,
					  .addr = addr,
					  .len = 4096,
					  .prot = PROT_READ | PROT_EXEC,
					  .filename = name };
	add(s, ring, time, &sb);
}

/* Adds an AUX record: the trace of @ring stops at @head. */
static void add_stop(struct scene *s, size_t ring, uint64_t time, uint64_t head)
{
	struct ptc_sb sb = { .type = PERF_RECORD_AUX };

	sb.u.aux = (struct ptc_sb_aux){ head, AUX, PERF_AUX_FLAG_OVERWRITE };
	add(s, ring, time, &sb);
}

static void round_ends(struct scene *s)
{
	cr_assert_eq(ptc_kept_round(s->kept, &s->err), 0);
}

/* Lists the mappings in @b with their times: "1:/a 2:/b". */
static void list(const struct ptc_buf *b, char *text, size_t size)
{
	struct ptc_cur c = ptc_cur_init(b->bytes, b->len);
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_sb sb;
	size_t at = 0;

	text[0] = '\0';
	while (ptc_cur_left(&c)) {
		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
		cr_assert_eq(ptc_sb_parse(&rec, TYPE, &sb, &err), 1);
		if (sb.type == PERF_RECORD_MMAP2)
			at += (size_t)snprintf(text + at, size - at, "%s%lu:%s", at ? " " : "",
					       sb.id.time, sb.u.mmap.filename);
	}
}

static void expect(struct scene *s, const char *state, const char *records)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	char text[256];

	cr_assert_eq(ptc_kept_put(s->kept, &a, &b, &s->err), 0);
	list(&a, text, sizeof(text));
	cr_assert_str_eq(text, state);
	list(&b, text, sizeof(text));
	cr_assert_str_eq(text, records);
	ptc_buf_release(&a);
	ptc_buf_release(&b);
}

Test(retained_records, as_they_came_until_every_ring_has_gone_round)
{
	struct scene s;

	scene_init(&s, 0);
	add_mmap(&s, 0, 10, 0x1000, "/a");
	add_stop(&s, 0, 11, 100);
	add_stop(&s, 1, 12, 100);
	add_mmap(&s, 0, 20, 0x2000, "/b");
	round_ends(&s);
	expect(&s, "", "10:/a 20:/b");
	add_stop(&s, 0, 30, 50); /* almost a full lap */
	add_stop(&s, 0, 31, 150);
	round_ends(&s);
	round_ends(&s);
	expect(&s, "", "10:/a 20:/b"); /* the other ring has not moved */
	add_stop(&s, 1, 40, 50);
	add_stop(&s, 1, 41, 99);
	round_ends(&s);
	round_ends(&s);
	expect(&s, "", "10:/a 20:/b"); /* one byte is missing */
	add_stop(&s, 1, 42, 100);
	round_ends(&s);
	round_ends(&s);
	expect(&s, "0:/a", "20:/b");
	cr_assert_eq(ptc_kept_since(s.kept), 11, "the stop at 11 may be the end of something");
	ptc_kept_free(s.kept);
}

/* The ring that is read first has the younger record. */
Test(retained_records, in_order_of_time_across_rings)
{
	struct scene s;

	scene_init(&s, 0);
	add_mmap(&s, 0, 20, 0x1000, "/new");
	add_mmap(&s, 1, 10, 0x1000, "/old");
	round_ends(&s);
	cr_assert_eq(ptc_kept_fold(s.kept, 30, &s.err), 0);
	expect(&s, "0:/new", "");
	ptc_kept_free(s.kept);
}

/* A record found in a ring may be older than a record that another ring had in the round before. */
Test(retained_records, a_round_waits_for_the_next)
{
	struct scene s;

	scene_init(&s, 1); /* compact as much as possible */
	add_mmap(&s, 0, 20, 0x1000, "/new");
	round_ends(&s);
	add_mmap(&s, 1, 15, 0x1000, "/old");
	add_mmap(&s, 0, 21, 0x2000, "/b");
	round_ends(&s);
	round_ends(&s);
	expect(&s, "0:/new", "21:/b");
	ptc_kept_free(s.kept);
}

Test(retained_records, a_ring_that_stands_still_does_not_keep_everything)
{
	const size_t max = 64 << 10;
	struct scene s;
	size_t before = 0, most = 0;
	uint64_t i;

	scene_init(&s, max);
	add_stop(&s, 0, 1, 100);
	for (i = 2; i < FEWER(400000, 120000); i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "/tmp/code.%lu", i);
		add_mmap(&s, 1, i, 0x1000 * (1 + i % 5), name);
		if (i % 50)
			continue;
		round_ends(&s);
		if (ptc_kept_bytes(s.kept, 1) > most)
			most = ptc_kept_bytes(s.kept, 1);
		if (i == 20000)
			before = mallinfo2().uordblks;
	}
	cr_assert_leq(most, max + (size_t)100 * 200, "%zu bytes were kept", most);
	cr_assert_geq(most, max / 2);
	cr_assert_leq(mallinfo2().uordblks, before + max, "%zu bytes, %zu before",
		      mallinfo2().uordblks, before);
	cr_assert_gt(ptc_kept_since(s.kept), 1, "older trace has no side records any more");
	ptc_kept_free(s.kept);
}

/* Sets the mappings of process 5 from now on. */
static void set_maps(const char *root, const char *text)
{
	char path[96];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/5", root);
	(void)mkdir(path, 0700);
	(void)snprintf(path, sizeof(path), "%s/5/maps", root);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

static void forget_maps(const char *root)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/5/maps", root);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/5", root);
	(void)rmdir(path);
	(void)rmdir(root);
}

/* Maps at ever new addresses; all mappings but the last are unmapped, without any munmap record. */
static size_t map_many(struct scene *s, uint64_t n)
{
	struct ptc_buf state = PTC_BUF_INIT, records = PTC_BUF_INIT;
	size_t len;
	uint64_t i;

	for (i = 1; i <= n; i++) {
		add_mmap(s, 0, i, 0x100000 + i * 0x2000, "/tmp/code");
		if (i % 50 == 0)
			round_ends(s);
	}
	cr_assert_eq(ptc_kept_fold(s->kept, n, &s->err), 0);
	cr_assert_eq(ptc_kept_put(s->kept, &state, &records, &s->err), 0);
	len = state.len;
	ptc_buf_release(&state);
	ptc_buf_release(&records);
	return len;
}

Test(retained_records, what_is_mapped_no_more_is_forgotten)
{
	enum { MAPPINGS = FEWER(100000, 60000) };
	char root[] = "/tmp/ptcap-kept-XXXXXX";
	struct scene s;
	size_t all;

	scene_init(&s, 1);
	all = map_many(&s, MAPPINGS);
	ptc_kept_free(s.kept);
	proc = mkdtemp(root);
	cr_assert_not_null(proc);
	set_maps(root, "00100000-00101000 r-xp 00000000 00:00 0 [other]\n");
	scene_init(&s, 1);
	cr_assert_leq(map_many(&s, MAPPINGS), all / 10, "%zu bytes without looking", all);
	ptc_kept_free(s.kept);
	forget_maps(root);
	scene_init(&s, 1); /* maps cannot be read: all is kept */
	cr_assert_eq(map_many(&s, MAPPINGS), all);
	ptc_kept_free(s.kept);
}

enum { MANY = 4097 }; /* the last one waits for the next round */

/*
 * Mappings that were unmapped before the look were still mapped when the rings' older trace was
 * made. They may be forgotten only when all kept trace is younger than the look.
 */
Test(retained_records, what_the_rings_reach_back_to_is_not_forgotten)
{
	char root[] = "/tmp/ptcap-kept-XXXXXX";
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct scene s;
	uint64_t i;

	proc = mkdtemp(root);
	set_maps(root, "00100000-00101000 r-xp 00000000 00:00 0 [other]\n");
	scene_init(&s, 1);
	for (i = 1; i <= MANY; i++)
		add_mmap(&s, 0, i, 0x100000 + i * 0x2000, "/c");
	round_ends(&s);
	add_mmap(&s, 0, MANY + 1, 0x1000, "/x");
	round_ends(&s); /* all up to MANY compacted: a look, valid to MANY + 1 */
	add_mmap(&s, 0, MANY + 9, 0x3000, "/y");
	round_ends(&s); /* made before or after the look: unknown */
	add_mmap(&s, 0, MANY + 20, 0x5000, "/z");
	cr_assert_eq(ptc_kept_fold(s.kept, MANY + 10, &s.err), 0);
	cr_assert_eq(ptc_kept_put(s.kept, &a, &b, &s.err), 0);
	cr_assert_gt(a.len, (size_t)MANY * 50, "what was mapped at %d is forgotten", MANY + 8);
	ptc_buf_reset(&a);
	cr_assert_eq(ptc_kept_fold(s.kept, MANY + 21, &s.err), 0);
	ptc_buf_reset(&b);
	cr_assert_eq(ptc_kept_put(s.kept, &a, &b, &s.err), 0);
	expect(&s, "0:/y 0:/z", ""); /* /x is gone too: it is not mapped either */
	ptc_buf_release(&a);
	ptc_buf_release(&b);
	ptc_kept_free(s.kept);
	forget_maps(root);
}

Test(retained_records, losses_are_counted)
{
	struct ptc_sb sb = { .type = PERF_RECORD_LOST, .u.lost = { ID, 7 } };
	struct scene s;

	scene_init(&s, 0);
	add(&s, 1, 10, &sb);
	cr_assert_eq(s.ledger[1].lost_records, 7);
	cr_assert_eq(s.ledger[0].lost_records, 0);
	ptc_kept_free(s.kept);
}
