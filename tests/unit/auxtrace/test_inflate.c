/* SPDX-License-Identifier: MIT */
/*
 * Description: the contents of compressed records replace these records, and their size is limited.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_index.h"
#include "fewer.h"
#include "lib_packed.h"

static const struct ptc_time_conv conv = { 31, 715827883, 5000 };
static const uint32_t types[] = { PTC_REC_COMPRESSED, PTC_REC_COMPRESSED2 };

static void build(struct pd *p, int n)
{
	int i;

	pd_init_pt(p, &conv);
	for (i = 0; i < n; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%d", i * i);
		pd_comm(p, i, (uint64_t)i * 77, name, false);
		pd_mmap2(p, i, (uint64_t)i, 0x1000, (uint64_t)i * 997, 0, "/bin/sleep");
	}
}

static struct ptc_file *open_ok(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0, "%s", err.msg);
	return f;
}

/* Opens @p and expects the records @want; the walk ends with @code. */
static struct ptc_err expect(const struct pd *p, bool pipe, const struct ptc_buf *want, int code)
{
	struct ptc_buf got = PTC_BUF_INIT;
	struct ptc_err err = { .msg = "" };
	struct ptc_file *f;
	size_t len;
	uint8_t *bytes = pipe ? pd_finish_pipe(p, &len) : pd_finish(p, &len);

	f = open_ok(bytes, len);
	cr_assert_eq(pk_records(f, &got, &err), code, "%s", err.msg);
	cr_assert_eq(got.len, want->len);
	cr_assert(pk_begins(want, &got));
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&got);
	return err;
}

Test(inflate, the_records_inside_stand_in_its_place_however_they_are_cut)
{
	static const size_t sizes[] = { 1, 2, 7, 100, 65000 };
	size_t i, t, pipe;

	for (i = 0; i < 5; i++)
		for (t = 0; t < 2; t++)
			for (pipe = 0; pipe < 2; pipe++) {
				struct ptc_buf want = PTC_BUF_INIT;
				struct pd p;

				build(&p, 50);
				ptc_buf_put(&want, p.data.bytes, p.data.len);
				pk_pack(&p, types[t], sizes[i]);
				(void)expect(&p, pipe, &want, 0);
				ptc_buf_release(&want);
				pd_release(&p);
			}
}

/*
 * Compressed, plain and again compressed records. The first compressed record has @cut bytes of the
 * third COMM.
 */
static void mix(struct pd *p, struct ptc_buf *want, size_t cut)
{
	struct packer *z = pk_new();
	struct ptc_buf inside;
	size_t third;

	pd_init_pt(p, &conv);
	ptc_buf_put(want, p->data.bytes, p->data.len);
	third = p->data.len;
	pd_comm(p, 1, 1, "one", false);
	pd_comm(p, 2, 2, "two", false);
	inside = p->data;
	p->data = (struct ptc_buf)PTC_BUF_INIT;
	ptc_buf_put(&p->data, inside.bytes, third);
	ptc_buf_put(want, inside.bytes + third, (inside.len - third) / 2);
	pk_put(z, &p->data, PTC_REC_COMPRESSED, inside.bytes + third,
	       (inside.len - third) / 2 + cut, 65000);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	ptc_buf_put(want, p->data.bytes + p->data.len - 8, 8);
	pk_put(z, &p->data, PTC_REC_COMPRESSED2,
	       inside.bytes + third + (inside.len - third) / 2 + cut,
	       (inside.len - third) / 2 - cut, 65000);
	ptc_buf_put(want, inside.bytes + third + (inside.len - third) / 2,
		    (inside.len - third) / 2);
	pk_free(z);
	ptc_buf_release(&inside);
	pd_feature(p, PTC_FEAT_COMPRESSED, "\1\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0\0\0\1", 20);
}

Test(inflate, a_record_stands_where_its_last_byte_came)
{
	size_t cut;

	for (cut = 0; cut < 40; cut++) {
		struct ptc_buf want = PTC_BUF_INIT;
		struct pd p;

		mix(&p, &want, cut);
		(void)expect(&p, false, &want, 0);
		ptc_buf_release(&want);
		pd_release(&p);
	}
}

Test(inflate, offsets_are_unique_and_tell_the_place)
{
	struct ptc_buf want = PTC_BUF_INIT;
	uint64_t pos = 0, last = 0, stored = 0, at = 0;
	unsigned int inside = 0, outer = 0;
	struct ptc_file_place place;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	mix(&p, &want, 9);
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	while (ptc_file_next_stored(f, &stored, &rec, &err) > 0)
		if (rec.type == PTC_REC_COMPRESSED)
			at = rec.off;
		else
			outer++;
	cr_assert_eq(outer, 4, "TIME_CONV, AUXTRACE_INFO, FINISHED_ROUND, COMPRESSED2");
	cr_assert(ptc_file_compressed(f));
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		const uint64_t off = rec.off;

		ptc_file_place(f, off, &place);
		cr_assert_str_eq(place.name, "test");
		cr_assert_eq(place.inflated, (off & PTC_OFF_INFLATED) != 0);
		cr_assert(ptc_file_bytes(f, off, 8, &c));
		cr_assert_eq(c.pos + 8, rec.body.pos);
		if (!place.inflated) {
			cr_assert_eq(place.off, off);
			continue;
		}
		cr_assert_gt(off, last);
		last = off;
		cr_assert_eq(place.inner, 0, "each is the first of its piece");
		cr_assert_eq(place.off == at, !inside);
		inside++;
	}
	cr_assert_eq(inside, 2);
	cr_assert_eq(pos, ptc_file_data_size(f), "the end is that of the file");

	(void)ptc_file_place(f, last + 5, &place);
	(void)snprintf(err.msg, sizeof(err.msg), "bad (offset 0x%llx)",
		       (unsigned long long)last + 5);
	err.off = last + 5;
	err.code = PTC_E_FORMAT;
	cr_assert_eq(ptc_file_err_name(f, &err), PTC_E_FORMAT);
	cr_assert_eq(err.off, place.off);
	cr_assert_not_null(strstr(err.msg, "cannot read 'test': bad (offset 0x"), "%s", err.msg);
	cr_assert_not_null(strstr(err.msg, ", 0x5 in what it expands to)"), "%s", err.msg);
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(inflate, trace_inside_is_found_by_its_offset)
{
	struct ptc_auxtrace a = { .idx = 3, .tid = 1, .cpu = -1 };
	struct ptc_index ix = PTC_INDEX_INIT;
	uint8_t trace[1000];
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	uint64_t pos = 0;
	uint32_t last = 0;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	memset(trace, 0x82, sizeof(trace));
	pd_init_pt(&p, &conv);
	pd_auxtrace(&p, &a, trace, sizeof(trace));
	/* 12 bytes, then 20 bytes, as perf writes them. */
	ptc_buf_put(&p.data, "\102\0\0\0\0\0\14\0\24\0\0\0", 12);
	ptc_buf_put(&p.data, trace, 20);
	pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pk_pack(&p, PTC_REC_COMPRESSED, 10);
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		last = rec.type;
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0, "%s", err.msg);
	}
	cr_assert_eq(last, PTC_REC_FINISHED_ROUND);
	cr_assert_eq(ix.nqueues, 1);
	c = ptc_chunk_bytes(f, &ix.queues[0].chunks[0]);
	cr_assert(ptc_cur_left(&c) == 1000 && !memcmp(c.pos, trace, 1000));
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(inflate, a_stream_that_ends_inside_a_record_is_damage_behind_what_is_whole)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct packer *z = pk_new();
	struct ptc_buf inside;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len, cut;

	for (cut = 1; cut < 40; cut += 13) {
		pd_init(&p);
		pd_comm(&p, 1, 1, "one", false);
		pd_comm(&p, 2, 2, "two", false);
		inside = p.data;
		p.data = (struct ptc_buf)PTC_BUF_INIT;
		ptc_buf_reset(&want);
		ptc_buf_put(&want, inside.bytes, inside.len / 2);
		pk_put(z, &p.data, PTC_REC_COMPRESSED, inside.bytes, inside.len - cut, 9);
		pk_free(z);
		z = pk_new();
		pd_feature(&p, PTC_FEAT_COMPRESSED, NULL, 0);
		err = expect(&p, false, &want, PTC_E_FORMAT);
		cr_assert_not_null(strstr(err.msg, "'test'"));
		cr_assert_not_null(strstr(err.msg, "ends inside a record"), "%s", err.msg);

		bytes = pd_finish(&p, &len);
		cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0);
		cr_assert_not_null(strstr(ptc_file_damage(f)->msg, "ends inside a record"));
		cr_assert_null(ptc_file_damage_at(f, 1));
		ptc_buf_reset(&inside);
		cr_assert_eq(pk_records(f, &inside, &err), 0);
		cr_assert(inside.len == want.len && !memcmp(inside.bytes, want.bytes, want.len));
		ptc_file_free(f);
		free(bytes);
		ptc_buf_release(&inside);
		pd_release(&p);
	}
	pk_free(z);
	ptc_buf_release(&want);
}

Test(inflate, what_is_no_zstd_or_no_record_is_an_error_where_it_stands)
{
	static const uint8_t impossible[16] = { 3, 0, 0, 0, 0, 0, 7, 0 };
	struct ptc_buf want = PTC_BUF_INIT;
	struct packer *z = pk_new();
	struct ptc_err err;
	struct pd p;

	pd_init(&p);
	pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	ptc_buf_put(&want, p.data.bytes, 8);
	pd_raw(&p, PTC_REC_COMPRESSED, 0, "no zstd.", 8);
	pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pd_feature(&p, PTC_FEAT_COMPRESSED, NULL, 0);
	err = expect(&p, false, &want, PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "cannot be expanded"), "%s", err.msg);
	cr_assert_eq(err.off, 104 + 8);

	p.data.len = 8; /* too few bytes to decompress to anything, valid or not */
	pd_raw(&p, PTC_REC_COMPRESSED, 0, NULL, 0);
	ptc_buf_put(&want, p.data.bytes, 8);
	ptc_buf_put(&p.data, p.data.bytes, 8);
	(void)expect(&p, false, &want, 0);
	want.len = 8;

	p.data.len = 8;
	pk_put(z, &p.data, PTC_REC_COMPRESSED, impossible, 16, 100);
	err = expect(&p, false, &want, PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "impossible size 7 (offset 0x70, 0x0 in what"), "%s",
			   err.msg);
	pk_free(z);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(inflate, a_size_in_compressed2_beyond_its_record_is_refused)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct packer *z = pk_new();
	struct ptc_err err;
	struct pd p;
	size_t i;

	for (i = 0; i < 4; i++) {
		uint64_t sizes[] = { 0, 1, UINT64_MAX, 0 };

		pd_init(&p);
		pk_put(z, &p.data, PTC_REC_COMPRESSED2, "\104\0\0\0\0\0\10\0", 8, 100);
		sizes[0] = ptc_le16(p.data.bytes + 6) - UINT64_C(16) + 1;
		sizes[3] = UINT64_C(1) << 40;
		pk_free(z);
		z = pk_new();
		if (i == 1)
			p.data.bytes[8] = 1; /* too few bytes for any output: no error */
		else
			ptc_buf_set_le64(&p.data, 8, sizes[i]);
		pd_feature(&p, PTC_FEAT_COMPRESSED, NULL, 0);
		err = expect(&p, false, &want, i == 1 ? 0 : PTC_E_FORMAT);
		if (i != 1)
			cr_assert_not_null(strstr(err.msg, "COMPRESSED2"), "%s", err.msg);
		pd_release(&p);
	}
	pk_free(z);
	ptc_buf_release(&want);
}

/* Adds records of 64 KiB that are all zero: they compress about 1000 times. */
static void put_bomb(struct pd *p, size_t bytes)
{
	struct packer *z = pk_new();
	uint8_t *zero = calloc(1, 65000);
	size_t n;

	cr_assert_not_null(zero);
	zero[0] = 90;
	zero[6] = 65000 & 255;
	zero[7] = 65000 >> 8;
	for (n = 0; n < bytes; n += 65000)
		pk_put(z, &p->data, PTC_REC_COMPRESSED, zero, 65000, 65000);
	free(zero);
	pk_free(z);
	pd_feature(p, PTC_FEAT_COMPRESSED, NULL, 0);
}

Test(inflate, a_bomb_is_stopped_by_its_ratio_and_what_fits_is_kept_in_a_file)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0, n = 0;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	pd_init(&p);
	put_bomb(&p, 8 << 20); /* below PTC_LIMIT_INFLATE_FREE */
	bytes = pd_finish(&p, &len);
	cr_assert_lt(len, (size_t)1 << 18);
	f = open_ok(bytes, len);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		n += 8 + ptc_cur_left(&rec.body);
	cr_assert_geq(n, 8 << 20);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);

	pd_init(&p);
	put_bomb(&p, 200 << 20);
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	n = pos = 0;
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		n += 8 + ptc_cur_left(&rec.body);
	cr_assert_eq(err.code, PTC_E_LIMIT, "%s", err.msg);
	cr_assert_not_null(strstr(err.msg, "expand to more than 256 times"), "%s", err.msg);
	cr_assert_lt(n, 200 << 20);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(inflate, another_kind_of_compression_is_refused_by_number)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p, 1);
	pk_pack(&p, PTC_REC_COMPRESSED, 100);
	pd_feature(&p, PTC_FEAT_COMPRESSED, "\1\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0\0\0\1", 20);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), PTC_E_UNSUPPORTED);
	cr_assert_not_null(strstr(err.msg, "'test': it is compressed in a way (type 2)"), "%s",
			   err.msg);
	free(bytes);
	pd_release(&p);
}

Test(inflate, without_the_feature_a_compressed_record_is_an_error_unless_damage_is_expected)
{
	struct ptc_buf want = PTC_BUF_INIT, got = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p, 3);
	ptc_buf_put(&want, p.data.bytes, p.data.len);
	pk_pack(&p, PTC_REC_COMPRESSED, 100);
	p.has[PTC_FEAT_COMPRESSED] = false;
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	cr_assert_eq(pk_records(f, &got, &err), PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "whose header tells of none"), "%s", err.msg);
	ptc_file_free(f);
	cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(pk_records(f, &got, &err), 0);
	cr_assert(got.len == want.len && !memcmp(got.bytes, want.bytes, want.len));
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&got);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(inflate, cut_at_every_length_what_is_whole_is_given)
{
	struct ptc_buf want = PTC_BUF_INIT, got = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *whole;
	size_t len, cut, last = 0;

	build(&p, 5);
	ptc_buf_put(&want, p.data.bytes, p.data.len);
	pk_pack(&p, PTC_REC_COMPRESSED, 20);
	whole = pd_finish_pipe(&p, &len);
	for (cut = 16; cut <= len; cut++) {
		uint8_t *bytes = pd_exact(whole, cut);

		cr_assert_eq(ptc_file_open_damaged_bytes(bytes, cut, "test", &f, &err), 0);
		cr_assert_eq(pk_records(f, &got, &err), 0, "%s", err.msg);
		cr_assert(got.len >= last && pk_begins(&want, &got));
		last = got.len;
		ptc_file_free(f);
		free(bytes);
	}
	cr_assert_eq(last, want.len);
	free(whole);
	ptc_buf_release(&got);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(inflate, every_damaged_byte_is_survived)
{
	struct ptc_buf got = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *whole;
	size_t len, i, v;

	build(&p, 3);
	pk_pack(&p, PTC_REC_COMPRESSED2, 60);
	whole = pd_finish(&p, &len);
	for (i = 0; i < len; i += FEWER(1, 3)) {
		static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
		const uint8_t was = whole[i];

		for (v = 0; v < sizeof(values); v++) {
			whole[i] = values[v];
			if (!ptc_file_open_bytes(whole, len, "test", &f, &err)) {
				(void)pk_records(f, &got, &err);
				ptc_file_free(f);
			}
			if (!ptc_file_open_damaged_bytes(whole, len, "test", &f, &err)) {
				cr_assert_eq(pk_records(f, &got, &err), 0, "%s", err.msg);
				ptc_file_free(f);
			}
		}
		whole[i] = was;
	}
	free(whole);
	ptc_buf_release(&got);
	pd_release(&p);
}
