/* SPDX-License-Identifier: MIT */
/* Description: recovery of a recording whose writer was killed, or that was cut. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib_packed.h"

static void build(struct pd *p)
{
	static const uint8_t trace[40] = { 2, 0x82 };

	pd_init_pt(p, NULL);
	pd_comm(p, 10, 0, "sleep", false);
	pd_auxtrace(p, &(struct ptc_auxtrace){ .offset = 0, .idx = 1, .tid = 10, .cpu = -1 }, trace,
		    sizeof(trace));
	pd_mmap2(p, 10, 0, 0x1000, 0x1000, 0, "/bin/sleep");
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_feature(p, PTC_FEAT_AUXTRACE, NULL, 0);
}

static void set64(uint8_t *p, uint64_t v)
{
	size_t i;

	for (i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static struct ptc_file *salvage(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_neq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0, "%s", err.msg);
	cr_assert_not_null(ptc_file_damage(f));
	return f;
}

/* Checks that @f has exactly the first @len bytes of the records @want, and no error. */
static void check_records(const struct ptc_file *f, const struct ptc_buf *want, size_t len)
{
	struct ptc_buf got = PTC_BUF_INIT;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(pk_records(f, &got, &err), 0, "%s", err.msg);
	cr_assert_eq(got.len, len);
	cr_assert(pk_begins(want, &got));
	ptc_buf_release(&got);
}

/* Returns all records of a whole file in @ret. */
static void whole_records(const uint8_t *bytes, size_t len, struct ptc_buf *ret)
{
	struct ptc_file *f;
	struct ptc_err err;

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(pk_records(f, ret, &err), 0);
	ptc_file_free(f);
}

Test(salvage, killed_before_the_features_the_records_go_to_the_end_of_the_file)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len, data;

	build(&p);
	bytes = pd_finish(&p, &len);
	whole_records(bytes, len, &want);
	data = (size_t)ptc_le64(bytes + 40);
	set64(bytes + 48, 0);
	f = salvage(bytes, data + p.data.len);
	cr_assert_not_null(strstr(ptc_file_damage(f)->msg, "'test': the file was not finished"));
	cr_assert_null(ptc_file_damage_at(f, 1), "nothing else");
	check_records(f, &want, want.len);
	cr_assert(!ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL));
	cr_assert_eq(ptc_file_nattrs(f), 2);
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(salvage, killed_behind_the_features_they_are_found)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes, *table;
	size_t len, i;

	build(&p);
	bytes = pd_finish(&p, &len);
	whole_records(bytes, len, &want);
	set64(bytes + 48, 0);
	f = salvage(bytes, len);
	cr_assert_null(ptc_file_damage_at(f, 1));
	check_records(f, &want, want.len);
	cr_assert_eq(ptc_file_data_size(f), p.data.len);
	cr_assert(ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL) && ptc_cur_left(&c) == 8);
	cr_assert(ptc_file_feature(f, PTC_FEAT_AUXTRACE, &c, NULL) && !ptc_cur_left(&c));
	ptc_file_free(f);
	/* A section table that points outside the file, or into itself, is ignored. */
	table = bytes + ptc_le64(bytes + 40) + p.data.len;
	for (i = 0; i < 2; i++) {
		set64(table + 8, i ? 8 : len);
		set64(table, (uint64_t)(table - bytes) + 32 - i * 8);
		f = salvage(bytes, len);
		cr_assert_not_null(ptc_file_damage_at(f, 1));
		cr_assert(!ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL));
		check_records(f, &want, want.len);
		ptc_file_free(f);
	}
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(salvage, cut_anywhere_it_ends_behind_the_last_whole_record)
{
	struct ptc_buf want = PTC_BUF_INIT, got = PTC_BUF_INIT;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len, data, cut, size, end = 0, seen = 0;
	int killed;

	build(&p);
	bytes = pd_finish(&p, &len);
	whole_records(bytes, len, &want);
	data = (size_t)ptc_le64(bytes + 40);
	for (killed = 0; killed < 2; killed++) {
		seen = end = 0;
		if (killed)
			set64(bytes + 48, 0);
		for (cut = data; cut < data + p.data.len; cut++) {
			uint8_t *some = pd_exact(bytes, cut);
			struct ptc_file *f = salvage(some, cut);

			cr_assert_eq(pk_records(f, &got, &err), 0, "%s", err.msg);
			cr_assert(got.len >= seen && pk_begins(&want, &got));
			size = (size_t)ptc_file_data_size(f);
			cr_assert(size >= end && size <= cut - data);
			cr_assert_eq(size != end, got.len != seen);
			/* The damage by the cut is reported in addition to the first damage. */
			cr_assert_eq(ptc_file_damage_at(f, 1) != NULL, size != cut - data);
			end = size;
			seen = got.len;
			ptc_file_free(f);
			free(some);
		}
	}
	cr_assert_gt(seen, 0);
	free(bytes);
	ptc_buf_release(&want);
	ptc_buf_release(&got);
	pd_release(&p);
}

Test(salvage, damage_inside_keeps_the_features_and_what_is_before)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len, data, first;

	build(&p);
	bytes = pd_finish(&p, &len);
	whole_records(bytes, len, &want);
	data = (size_t)ptc_le64(bytes + 40);
	first = ptc_le16(bytes + data + 6);
	bytes[data + first + 6] = 7;
	bytes[data + first + 7] = 0;
	cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_file_damage(f)->off, data + first);
	cr_assert(ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL));
	check_records(f, &want, first);
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(salvage, a_killed_compressed_recording_is_expanded_as_far_as_it_goes)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_file *f;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	ptc_buf_put(&want, p.data.bytes, p.data.len);
	p.data.len = 0;
	pd_comm(&p, 10, 0, "sleep", false);
	ptc_buf_reset(&want);
	ptc_buf_put(&want, p.data.bytes, p.data.len);
	pk_pack(&p, PTC_REC_COMPRESSED, 40);
	bytes = pd_finish(&p, &len);
	len = (size_t)(ptc_le64(bytes + 40) + p.data.len);
	set64(bytes + 48, 0);
	f = salvage(bytes, len);
	check_records(f, &want, want.len);
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

Test(salvage, a_whole_file_has_no_damage)
{
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	bytes = pd_finish(&p, &len);
	whole_records(bytes, len, &want);
	cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_null(ptc_file_damage(f));
	check_records(f, &want, want.len);
	ptc_file_free(f);
	free(bytes);
	ptc_buf_release(&want);
	pd_release(&p);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif

/*
 * Each u64 of small files of each form claims a TiB. With a limit of 64 MiB the reader must not
 * fail.
 */
Test(salvage, a_claim_of_a_tebibyte_allocates_nothing_big)
{
	const struct rlimit small = { 64 << 20, 64 << 20 };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len, i;
	int form;

#ifdef SANITIZED
	cr_skip_test("a sanitizer needs its own");
#endif
	cr_assert_eq(setrlimit(RLIMIT_DATA, &small), 0);
	for (form = 0; form < 4; form++) {
		struct pd p;
		uint8_t *bytes;

		build(&p);
		if (form & 1)
			pk_pack(&p, PTC_REC_COMPRESSED2, 100);
		bytes = form & 2 ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
		for (i = 0; i + 8 <= len; i += 4) {
			const uint64_t was = ptc_le64(bytes + i);
			struct ptc_err err = { .code = PTC_OK };
			struct ptc_file *f;

			set64(bytes + i, UINT64_C(1) << 40);
			if (!ptc_file_open_bytes(bytes, len, "test", &f, &err)) {
				(void)pk_records(f, &b, &err);
				ptc_file_free(f);
			}
			cr_assert_neq(err.code, PTC_E_NO_MEMORY, "%s", err.msg);
			if (!ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err)) {
				cr_assert_eq(pk_records(f, &b, &err), 0);
				ptc_file_free(f);
			}
			cr_assert_neq(err.code, PTC_E_NO_MEMORY, "%s", err.msg);
			set64(bytes + i, was);
		}
		free(bytes);
		pd_release(&p);
	}
	ptc_buf_release(&b);
}
