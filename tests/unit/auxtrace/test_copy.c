/* SPDX-License-Identifier: MIT */
/*
 * Description: a rewritten recording keeps all records, attrs and features. A selected part keeps
 * exactly what the selection asks for. A damaged file is copied up to the damage, wherever it is
 * cut, and never beyond it.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/ledger.h"
#include "fewer.h"
#include "lib_packed.h"
#include "ptcap/copy.h"

static char folder[] = "/tmp/ptcap-test-XXXXXX";
static char path[64], again[64];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	(void)snprintf(again, sizeof(again), "%s/again", folder);
}

static void clean(void)
{
	char old[80];

	(void)unlink(path);
	(void)unlink(again);
	(void)snprintf(old, sizeof(old), "%s.old", path);
	(void)unlink(old);
	(void)snprintf(old, sizeof(old), "%s.old", again);
	(void)unlink(old);
}

static void teardown(void)
{
	clean();
	cr_assert_eq(rmdir(folder), 0, "nothing else was left");
}

static void put_piece(struct pd *p, uint32_t idx, int32_t cpu, uint64_t off, uint8_t fill)
{
	struct ptc_auxtrace a = { .offset = off, .idx = idx, .cpu = cpu, .tid = -1 };
	uint8_t bytes[32];

	memset(bytes, fill, sizeof(bytes));
	pd_auxtrace(p, &a, bytes, sizeof(bytes));
}

/*
 * Two CPUs with two AUXTRACE records each. Times of the first: 100 to 200, of the second: 200 to
 * 300.
 */
static void make(struct pd *p)
{
	static const struct ptc_time_conv tc = { .shift = 0, .mult = 1 };
	static const uint8_t unknown[] = { 1, 2, 3 };
	uint32_t cpu;

	pd_init_pt(p, &tc);
	pd_comm(p, 7, 50, "one", true);
	pd_mmap2(p, 7, 60, 0x1000, 0x1000, 0, "/bin/one");
	pd_raw(p, 999, 3, unknown, sizeof(unknown));
	for (cpu = 0; cpu < 2; cpu++) {
		pd_itrace_start(p, 7, cpu, 90);
		pd_aux(p, 7, cpu, 200, 0, 32, 0);
		put_piece(p, cpu, (int32_t)cpu, 0, 0x10 + (uint8_t)cpu);
	}
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	for (cpu = 0; cpu < 2; cpu++) {
		pd_aux(p, 7, cpu, 300, 32, 32, 0);
		put_piece(p, cpu, (int32_t)cpu, 32, 0x20 + (uint8_t)cpu);
	}
	pd_task(p, PERF_RECORD_EXIT, 7, 7, 1, 310);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0abc", 8);
	pd_feature(p, PTC_FEAT_TRACING_DATA, "16 bytes of text", 16);
	pd_feature(p, PTC_FEAT_BRANCH_STACK, NULL, 0);
	pd_feature(p, 200, "\1\2\3", 3);
}

static struct ptc_file *open_file(const char *name)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_file_open(name, &f, &err), 0, "%s", err.msg);
	return f;
}

static size_t count(const struct ptc_file *f, uint32_t type)
{
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;
	size_t n = 0;

	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		n += rec.type == type;
	return n;
}

static bool is_front(uint32_t type)
{
	return type == PTC_REC_HEADER_ATTR || type == PTC_REC_HEADER_FEATURE ||
	       type == PTC_REC_HEADER_TRACING_DATA;
}

static bool same_bytes(struct ptc_cur a, struct ptc_cur b)
{
	return ptc_cur_left(&a) == ptc_cur_left(&b) &&
	       (!ptc_cur_left(&a) || !memcmp(a.pos, b.pos, ptc_cur_left(&a)));
}

static int next_of(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *rec)
{
	struct ptc_err err;
	int rc;

	do
		rc = ptc_file_next(f, pos, rec, &err);
	while (rc > 0 && is_front(rec->type));
	cr_assert_geq(rc, 0);
	return rc;
}

static void same_records(const struct ptc_file *a, const struct ptc_file *b)
{
	uint64_t pa = 0, pb = 0;
	struct ptc_rec ra, rb;

	while (next_of(a, &pa, &ra)) {
		struct ptc_auxtrace x, y;
		struct ptc_cur bytes_a, bytes_b;
		struct ptc_err err;

		cr_assert_eq(next_of(b, &pb, &rb), 1);
		cr_assert_eq(ra.type, rb.type);
		cr_assert_eq(ra.misc, rb.misc);
		cr_assert(same_bytes(ra.body, rb.body), "type %u", ra.type);
		if (ra.type != PTC_REC_AUXTRACE)
			continue;
		cr_assert_eq(ptc_file_auxtrace(a, &ra, &x, &bytes_a, &err), 0);
		cr_assert_eq(ptc_file_auxtrace(b, &rb, &y, &bytes_b, &err), 0);
		cr_assert(same_bytes(bytes_a, bytes_b));
	}
	cr_assert_eq(next_of(b, &pb, &rb), 0);
}

static void same_attrs(const struct ptc_file *a, const struct ptc_file *b)
{
	size_t i;

	cr_assert_eq(ptc_file_nattrs(a), ptc_file_nattrs(b));
	for (i = 0; i < ptc_file_nattrs(a); i++) {
		const struct ptc_file_attr *x = ptc_file_attr(a, i), *y = ptc_file_attr(b, i);

		cr_assert(same_bytes(x->stored, y->stored));
		cr_assert_eq(x->nids, y->nids);
		cr_assert_eq(memcmp(x->ids, y->ids, x->nids * 8), 0);
	}
}

static void same_features(const struct ptc_file *a, const struct ptc_file *b, bool pipe)
{
	struct ptc_cur x, y;
	unsigned int bit;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		if (bit == PTC_FEAT_AUXTRACE || bit == PTC_FEAT_COMPRESSED ||
		    (pipe && bit == PTC_FEAT_BRANCH_STACK))
			continue;
		cr_assert_eq(ptc_file_feature(a, bit, &x, NULL), ptc_file_feature(b, bit, &y, NULL),
			     "feature %u", bit);
		if (ptc_file_feature(a, bit, &x, NULL))
			cr_assert(same_bytes(x, y), "feature %u", bit);
	}
}

#define SIZE .size = sizeof(struct ptc_copy_opts)

static void copy(const struct ptc_file *f, const char *to, const struct ptc_copy_opts *opts,
		 struct ptc_copy_stats *st)
{
	struct ptc_err err;

	cr_assert_eq(ptc_copy(f, to, opts, st, &err), 0, "%s", err.msg);
}

Test(copy, whole, .init = setup, .fini = teardown)
{
	unsigned int how;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	make(&p);
	/* An attr larger than ours: 64 extra bytes that are not 0. */
	p.attr_size = sizeof(struct perf_event_attr) + 64;
	bytes = pd_finish(&p, &len);
	for (how = 0; how < 4; how++) {
		const struct ptc_copy_opts opts = {
			SIZE,
			.pipe = how & 1,
			.pack = how & 2 ? PTC_COPY_PACK_ZSTD : PTC_COPY_PACK_KEEP,
			.level = 1,
		};
		struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
		struct ptc_file *a = NULL, *b;
		struct ptc_err err;

		cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0, "%s", err.msg);
		copy(a, path, &opts, &st);
		b = open_file(path);
		cr_assert_eq(ptc_file_form(b), how & 1 ? PTC_FORM_PIPE : PTC_FORM_FILE);
		cr_assert_eq(ptc_file_compressed(b), (how & 2) != 0);
		cr_assert_eq(st.pieces, 4);
		cr_assert_eq(st.piece_bytes, 128);
		cr_assert_eq(st.lost_feature[PTC_FEAT_BRANCH_STACK], opts.pipe);
		same_records(a, b);
		same_attrs(a, b);
		same_features(a, b, opts.pipe);
		copy(b, again, &(struct ptc_copy_opts){ SIZE, .pack = PTC_COPY_PACK_NONE }, &st);
		ptc_file_free(b);
		b = open_file(again);
		same_records(a, b);
		same_attrs(a, b);
		same_features(a, b, opts.pipe);
		ptc_file_free(b);
		ptc_file_free(a);
		clean();
	}
	free(bytes);
	pd_release(&p);
}

/* Bytes of an attr that are unknown to this version are copied unchanged. */
Test(copy, unknown_bytes, .init = setup, .fini = teardown)
{
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	const struct ptc_file_attr *attr;
	struct ptc_file *a = NULL, *b;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes, *at;
	size_t len;
	int pipe;

	make(&p);
	p.attr_size = sizeof(struct perf_event_attr) + 64;
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0);
	at = bytes + (ptc_file_attr(a, 1)->stored.pos - bytes) + p.attr_size - 1;
	ptc_file_free(a);
	*at = 0x5a;
	for (pipe = 0; pipe < 2; pipe++) {
		cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0);
		copy(a, path, &(struct ptc_copy_opts){ SIZE, .pipe = pipe }, &st);
		b = open_file(path);
		attr = ptc_file_attr(b, 1);
		cr_assert(attr->unknown_bytes);
		cr_assert_eq(ptc_cur_left(&attr->stored), p.attr_size);
		cr_assert_eq(attr->stored.end[-1], 0x5a);
		ptc_file_free(a);
		ptc_file_free(b);
	}
	free(bytes);
	pd_release(&p);
}

struct want {
	struct ptc_copy_opts opts;
	size_t pieces, auxes, starts;
};

Test(copy, parts, .init = setup, .fini = teardown)
{
	static const uint32_t cpus[] = { 1 };
	static const int32_t tids[] = { 8 };
	static const struct want wants[] = {
		{ { SIZE, .cpus = cpus, .ncpus = 1 }, 2, 2, 1 },
		/* A queue of a CPU contains all threads, so a selection by thread keeps it. */
		{ { SIZE, .tids = tids, .ntids = 1 }, 4, 4, 2 },
		{ { SIZE, .to_ns = 150 }, 2, 2, 2 },
		/* Neither the first nor the second records hold a PSB, so all are kept. */
		{ { SIZE, .from_ns = 250 }, 4, 4, 2 },
		{ .opts = { SIZE, .strip_aux = true } },
	};
	size_t i, len;
	uint8_t *bytes;
	struct pd p;

	make(&p);
	bytes = pd_finish(&p, &len);
	for (i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
		struct ptc_file *a = NULL, *b;
		struct ptc_err err;

		cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0);
		copy(a, path, &wants[i].opts, &st);
		b = open_file(path);
		cr_expect_eq(count(b, PTC_REC_AUXTRACE), wants[i].pieces, "%zu", i);
		cr_expect_eq(count(b, PERF_RECORD_AUX), wants[i].auxes, "%zu", i);
		cr_expect_eq(count(b, PERF_RECORD_ITRACE_START), wants[i].starts, "%zu", i);
		cr_expect_eq(count(b, PERF_RECORD_MMAP2), 1, "%zu", i);
		cr_expect_eq(count(b, PERF_RECORD_COMM), 1, "%zu", i);
		cr_expect_eq(count(b, 999), 1, "%zu", i);
		ptc_file_free(a);
		ptc_file_free(b);
	}
	free(bytes);
	pd_release(&p);
}

/*
 * Before the selected time span, trace is kept back to the last record with a PSB, and no further.
 */
/* The ledger describes the whole recording. */
Test(copy, the_ledger_goes_with_the_whole_only, .init = setup, .fini = teardown)
{
	static const uint32_t cpu = 1;
	const struct ptc_copy_opts all = { SIZE, .pack = PTC_COPY_PACK_KEEP };
	const struct ptc_copy_opts part = { SIZE, .cpus = &cpu, .ncpus = 1 };
	const struct ptc_copy_opts bare = { SIZE, .strip_aux = true };
	const struct ptc_copy_opts *opts[] = { &all, &part, &bare };
	const struct ptc_ledger_ring r = { .idx = 1, .aux_stored = 64 };
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_err err;
	struct ptc_file *f, *copied;
	struct pd p;
	size_t i;

	make(&p);
	ptc_ledger_put_rings(&p.data, &r, 1);
	pd_write(&p, path);
	pd_release(&p);
	f = open_file(path);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_copy(f, again, opts[i], &st, &err), 0, "%s", err.msg);
		copied = open_file(again);
		cr_assert_eq(count(copied, PTC_REC_HEADER_EVENT_TYPE), i == 0, "case %zu", i);
		ptc_file_free(copied);
	}
	ptc_file_free(f);
	clean();
}

Test(copy, back_to_psb, .init = setup, .fini = teardown)
{
	static const struct ptc_time_conv tc = { .shift = 0, .mult = 1 };
	const struct ptc_copy_opts opts = { SIZE, .from_ns = 450, .to_ns = 480 };
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *a = NULL;
	struct ptc_err err;
	uint8_t psb[32];
	struct pd p;
	uint8_t *bytes;
	size_t len, i;

	for (i = 0; i < sizeof(psb); i++)
		psb[i] = i % 2 ? 0x82 : 2;
	pd_init_pt(&p, &tc);
	for (i = 0; i < 7; i++) {
		struct ptc_auxtrace piece = { .offset = i * 32, .tid = -1 };
		const uint8_t other[32] = { 0x99 };

		pd_aux(&p, 7, 0, 100 * (i + 1), i * 32, 32, 0);
		pd_auxtrace(&p, &piece, i == 0 || i == 2 ? psb : other, 32);
	}
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0);
	copy(a, path, &opts, &st);
	/*
	 * Times 400 to 500 are in the fifth record. The third is the last one before it with a PSB.
	 */
	cr_assert_eq(st.pieces, 3, "%d", (int)st.pieces);
	cr_assert_eq(st.left_out, 4 + 4);
	ptc_file_free(a);
	free(bytes);
	pd_release(&p);
}

/*
 * Returns true if @rec is an AUXTRACE record cut short: its bytes equal the first bytes of @whole.
 */
static bool is_cut(const struct ptc_rec *whole, const struct ptc_rec *rec)
{
	struct ptc_cur a = whole->body, b = rec->body;
	uint64_t size, left;

	return whole->type == PTC_REC_AUXTRACE && rec->type == PTC_REC_AUXTRACE &&
	       ptc_cur_le64(&a, &size) && ptc_cur_le64(&b, &left) && left && left < size &&
	       left % 8 == 0 && same_bytes(a, b);
}

/*
 * Checks that the copy holds the first records of @whole; the last record may be cut. Returns their
 * number.
 */
static size_t copy_damaged(const struct ptc_file *whole, const uint8_t *bytes, size_t len)
{
	const struct ptc_copy_opts opts = { SIZE, .pipe = false };
	uint64_t pw = 0, pb = 0;
	struct ptc_rec rw, rb;
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *f = NULL, *b;
	struct ptc_err err;
	bool cut = false;
	size_t n = 0;

	if (ptc_file_open_damaged_bytes(bytes, len, "cut", &f, &err))
		return 0;
	if (ptc_copy(f, path, &opts, &st, &err)) {
		cr_assert_eq(err.code, PTC_E_NOT_EXIST, "%s", err.msg);
		ptc_file_free(f);
		return 0;
	}
	b = open_file(path);
	for (; next_of(b, &pb, &rb); n++) {
		cr_assert_eq(next_of(whole, &pw, &rw), 1);
		cr_assert(!cut);
		cut = !same_bytes(rw.body, rb.body);
		cr_assert(!cut || is_cut(&rw, &rb));
	}
	cr_assert_eq(st.records, n);
	ptc_file_free(b);
	ptc_file_free(f);
	cr_assert_eq(unlink(path), 0);
	return n;
}

Test(copy, cut_anywhere, .init = setup, .fini = teardown)
{
	struct ptc_file *whole = NULL;
	size_t len, cut, last = 0, n;
	struct ptc_err err;
	uint8_t *bytes;
	struct pd p;

	make(&p);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &whole, &err), 0);
	for (cut = 0; cut <= len; cut++) {
		uint8_t *short_one = pd_exact(bytes, cut);

		n = copy_damaged(whole, short_one, cut);
		cr_assert_geq(n, last, "cut at %zu", cut);
		last = n;
		free(short_one);
	}
	cr_assert_eq(last, 17, "%zu", last);
	ptc_file_free(whole);
	free(bytes);
	pd_release(&p);
}

/* With any byte changed the file is refused, or the output is readable. */
Test(copy, hostile, .init = setup, .fini = teardown)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
	static const uint32_t cpus[] = { 1 };
	size_t len, i;
	uint8_t *bytes;
	struct pd p;

	make(&p);
	bytes = pd_finish(&p, &len);
	for (i = 0; i < len * sizeof(values); i += FEWER(1, 3)) {
		const struct ptc_copy_opts opts = { SIZE, .pipe = i & 1,
						    .cpus = i & 2 ? cpus : NULL,
						    .ncpus = i & 2 ? 1 : 0,
						    .from_ns = i & 2 ? 200 : 0 };
		const uint8_t was = bytes[i / sizeof(values)];
		struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
		struct ptc_file *f = NULL, *b;
		struct ptc_err err;

		bytes[i / sizeof(values)] = values[i % sizeof(values)];
		if (!ptc_file_open_damaged_bytes(bytes, len, "hostile", &f, &err)) {
			if (!ptc_copy(f, path, &opts, &st, &err)) {
				b = open_file(path);
				ptc_file_free(b);
			}
			ptc_file_free(f);
			(void)unlink(path);
		}
		bytes[i / sizeof(values)] = was;
	}
	clean();
	free(bytes);
	pd_release(&p);
}

/* perf of 2010 wrote BUILD_ID without a pid and had no pipe mode. The pipe output has the pid. */
Test(copy, old_build_ids_to_a_pipe, .init = setup, .fini = teardown)
{
	uint8_t entry[8 + 24 + 64] = { [4] = PERF_RECORD_MISC_KERNEL, [6] = 8 + 24 + 64 };
	const struct ptc_copy_opts opts = { SIZE, .pipe = true };
	struct ptc_build_id_entry e;
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *a = NULL, *b;
	struct ptc_err err;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	make(&p);
	memset(entry + 8, 0xab, 20);
	(void)snprintf((char *)entry + 32, 64, "[kernel.kallsyms]");
	pd_feature(&p, PTC_FEAT_BUILD_ID, entry, sizeof(entry));
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0, "%s", err.msg);
	copy(a, path, &opts, &st);
	b = open_file(path);
	cr_assert(ptc_file_feature(b, PTC_FEAT_BUILD_ID, &c, NULL));
	cr_assert_eq(ptc_cur_left(&c), sizeof(entry) + 4, "as every perf since reads it");
	cr_assert_eq(ptc_le32(c.pos + 8), UINT32_MAX);
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 1);
	cr_assert(e.pid == -1 && e.id.bytes[0] == 0xab && e.id.bytes[19] == 0xab);
	cr_assert_str_eq(e.filename, "[kernel.kallsyms]");
	ptc_file_free(b);
	ptc_file_free(a);
	free(bytes);
	pd_release(&p);
}

/* Front matter with a part behind the damage is still written completely. */
Test(copy, a_pipe_with_an_event_behind_damage, .init = setup, .fini = teardown)
{
	static const uint8_t rubbish[64] = { 1, 2, 3 };
	const struct ptc_copy_opts opts = { SIZE, .pipe = true };
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *a = NULL, *b;
	struct ptc_err err;
	struct ptc_buf front = PTC_BUF_INIT;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	make(&p);
	pd_raw(&p, PTC_REC_COMPRESSED2, 0, rubbish, sizeof(rubbish));
	bytes = pd_finish_pipe(&p, &len);
	/* Append a second copy of the first event. */
	ptc_buf_put(&front, bytes, len);
	ptc_buf_put(&front, bytes + PTC_PIPE_HEADER_SIZE,
		    ptc_le16(bytes + PTC_PIPE_HEADER_SIZE + 6));
	cr_assert_eq(ptc_file_open_damaged_bytes(front.bytes, front.len, "a", &a, &err), 0);
	cr_assert(ptc_file_damage(a));
	copy(a, path, &opts, &st);
	b = open_file(path);
	cr_assert_eq(ptc_file_nattrs(a), 3);
	cr_assert_eq(ptc_file_nattrs(b), 3);
	same_records(b, a);
	ptc_file_free(b);
	ptc_file_free(a);
	free(bytes);
	ptc_buf_release(&front);
	pd_release(&p);
}

/* Event records inside compressed records are ignored, before and after the copy. */
Test(copy, a_compressed_event_is_none, .init = setup, .fini = teardown)
{
	const struct ptc_copy_opts opts = { SIZE, .pipe = true, .pack = PTC_COPY_PACK_NONE };
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *a = NULL, *b;
	struct ptc_err err;
	struct pd p, first;
	uint8_t *bytes, *attr;
	size_t len, n;

	make(&first);
	attr = pd_finish_pipe(&first, &n);
	pd_init_pt(&p, NULL);
	ptc_buf_put(&p.data, attr + PTC_PIPE_HEADER_SIZE,
		    ptc_le16(attr + PTC_PIPE_HEADER_SIZE + 6));
	pd_comm(&p, 7, 50, "one", true);
	pk_pack(&p, PTC_REC_COMPRESSED, 4000);
	bytes = pd_finish_pipe(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &a, &err), 0, "%s", err.msg);
	copy(a, path, &opts, &st);
	b = open_file(path);
	cr_assert_eq(ptc_file_nattrs(a), 2);
	cr_assert_eq(ptc_file_nattrs(b), 2);
	cr_assert_eq(count(b, PERF_RECORD_COMM), 1);
	ptc_file_free(b);
	ptc_file_free(a);
	free(bytes);
	free(attr);
	pd_release(&p);
	pd_release(&first);
}
