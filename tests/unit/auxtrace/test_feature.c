/* SPDX-License-Identifier: MIT */
/*
 * Description: feature sections are written and read again. Each parser gets its input cut at every
 * length.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/feature/feature.h"
#include "lib_perfdata.h"

Test(feature, names_are_perfs)
{
	cr_assert_str_eq(ptc_feature_name(PTC_FEAT_HOSTNAME), "HOSTNAME");
	cr_assert_str_eq(ptc_feature_name(PTC_FEAT_PMU_CAPS), "PMU_CAPS");
	cr_assert_null(ptc_feature_name(0));
	cr_assert_null(ptc_feature_name(100));
	cr_assert_null(ptc_feature_name(1000));
}

Test(feature, a_string_is_padded_to_64_and_cut_it_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *got;
	struct ptc_cur c;
	size_t len;

	ptc_feature_put_string(&b,
			       "0123456789012345678901234567890123456789012345678901234567890123");
	cr_assert_eq(b.len, 4 + 128, "64 characters and a NUL do not fit in 64");
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		c = ptc_cur_init(bytes, len);
		cr_assert(!ptc_feature_get_string(&c, &got), "length %zu", len);
		cr_assert_eq(ptc_cur_left(&c), len);
		free(bytes);
	}
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert(ptc_feature_get_string(&c, &got));
	cr_assert_eq(strlen(got), 64);
	cr_assert_eq(ptc_cur_left(&c), 0);
	ptc_buf_release(&b);
}

Test(feature, a_string_without_its_end_is_refused)
{
	const uint8_t bytes[] = { 4, 0, 0, 0, 'a', 'b', 'c', 'd', 0 };
	struct ptc_cur c = ptc_cur_init(bytes, sizeof(bytes));
	const char *got;

	cr_assert(!ptc_feature_get_string(&c, &got));
}

Test(feature, the_command_line_is_a_count_and_strings)
{
	static const char *const argv[] = { "ptcap", "record", "" };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cur c;
	const char *s;
	uint32_t n;
	size_t i;

	ptc_feature_put_cmdline(&b, argv, 3);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert(ptc_cur_le32(&c, &n));
	cr_assert_eq(n, 3);
	for (i = 0; i < 3; i++) {
		cr_assert(ptc_feature_get_string(&c, &s));
		cr_assert_str_eq(s, argv[i]);
	}
	cr_assert_eq(ptc_cur_left(&c), 0);
	ptc_buf_release(&b);
}

Test(feature, small_sections_have_perfs_layout)
{
	const struct ptc_pmu_mapping pmu = { 8, "intel_pt" };
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_nrcpus(&b, 8, 6);
	cr_assert(b.len == 8 && ptc_le32(b.bytes) == 8 && ptc_le32(b.bytes + 4) == 6);
	ptc_buf_reset(&b);
	ptc_feature_put_total_mem(&b, 1234);
	cr_assert(b.len == 8 && ptc_le64(b.bytes) == 1234);
	ptc_buf_reset(&b);
	ptc_feature_put_sample_time(&b, 5, 6);
	cr_assert(b.len == 16 && ptc_le64(b.bytes) == 5 && ptc_le64(b.bytes + 8) == 6);
	ptc_buf_reset(&b);
	ptc_feature_put_pmu_mappings(&b, &pmu, 1);
	cr_assert(b.len == 8 + 4 + 64 && ptc_le32(b.bytes) == 1 && ptc_le32(b.bytes + 4) == 8);
	cr_assert_str_eq((const char *)b.bytes + 12, "intel_pt");
	ptc_buf_release(&b);
}

/* Returns the number of readable events, or the error as a negative number. */
static int read_events(const uint8_t *bytes, size_t len)
{
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_err err;
	int n = 0;
	int rc = ptc_feature_open_event_desc(ptc_cur_init(bytes, len), 0, &it, &err);

	if (rc)
		return rc;
	while ((rc = ptc_feature_next_event_desc(&it, &e, &err)) > 0)
		n++;
	return rc ? rc : n;
}

Test(feature, events_come_back_and_cut_at_every_length_are_refused)
{
	const struct perf_event_attr attrs[2] = { { .type = 8, .config = 0x300e601 },
						  { .type = 1, .config = 9 } };
	const uint64_t ids[] = { 10, 11 };
	const struct ptc_event_desc d[] = { { &attrs[0], "intel_pt//u", ids, 2 },
					    { &attrs[1], "dummy:u", ids, 0 } };
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	uint64_t id;
	size_t len;

	ptc_feature_put_event_desc(&b, d, 2);
	cr_assert_eq(ptc_feature_open_event_desc(ptc_cur_init(b.bytes, b.len), 0, &it, &err), 0);
	cr_assert_eq(it.attr_size, PERF_ATTR_SIZE_VER7);
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 1);
	cr_assert_str_eq(e.name, "intel_pt//u");
	cr_assert_eq(e.attr.config, 0x300e601);
	cr_assert(ptc_cur_le64(&e.ids, &id) && id == 10);
	cr_assert(ptc_cur_le64(&e.ids, &id) && id == 11);
	cr_assert_eq(ptc_cur_left(&e.ids), 0);
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 1);
	cr_assert_str_eq(e.name, "dummy:u");
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 0);
	cr_assert_eq(ptc_cur_left(&it.cur), 0);
	for (len = 0; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		cr_assert_eq(read_events(bytes, len), PTC_E_FORMAT, "length %zu", len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

static int read_build_ids(const uint8_t *bytes, size_t len)
{
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_build_id_entry e;
	struct ptc_err err;
	int n = 0;
	int rc;

	while ((rc = ptc_feature_next_build_id(&c, 0, &e, &err)) > 0)
		n++;
	return rc ? rc : n;
}

Test(feature, build_ids_come_back_and_cut_inside_an_entry_are_refused)
{
	const struct ptc_build_id_entry want[] = {
		{ PERF_RECORD_MISC_USER, -1, { { 1, 2, 3 }, 20 }, "/usr/bin/x" },
		{ PERF_RECORD_MISC_KERNEL, 5, { { 9, 8, 7 }, 3 }, "[vdso]" },
	};
	struct ptc_build_id_entry e;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_cur c;
	size_t i, len, first;

	ptc_feature_put_build_id(&b, &want[0]);
	first = b.len;
	cr_assert_eq(first, 36 + 64);
	ptc_feature_put_build_id(&b, &want[1]);
	c = ptc_cur_init(b.bytes, b.len);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 1);
		cr_assert(e.misc == want[i].misc && e.pid == want[i].pid);
		cr_assert_eq(e.id.len, want[i].id.len);
		cr_assert_eq(memcmp(e.id.bytes, want[i].id.bytes, 20), 0);
		cr_assert_str_eq(e.filename, want[i].filename);
	}
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 0);
	for (len = 1; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		cr_assert_eq(read_build_ids(bytes, len), len == first ? 1 : PTC_E_FORMAT,
			     "length %zu", len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(feature, an_old_build_id_without_size_has_20_bytes)
{
	const struct ptc_build_id_entry want = { 2, -1, { { 1 }, 20 }, "x" };
	struct ptc_build_id_entry e;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_cur c;

	ptc_feature_put_build_id(&b, &want);
	b.bytes[5] = 0;	  /* clear the flag in misc */
	b.bytes[32] = 77; /* the size byte: now padding, or stray non-zero data */
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 1);
	cr_assert_eq(e.id.len, 20);
	b.bytes[5] = 0x80;
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

/* As perf 2.6.33 wrote build ids: no pid, the id in 24 bytes, the name padded to 64. */
static void put_2010(struct ptc_buf *b, uint16_t misc, uint8_t id, const char *name)
{
	const size_t len = strlen(name) + 1;
	size_t i;

	ptc_buf_le32(b, 0);
	ptc_buf_le16(b, misc);
	ptc_buf_le16(b, 8 + 24 + 64);
	for (i = 0; i < 20; i++)
		ptc_buf_u8(b, id);
	ptc_buf_zero(b, 4);
	ptc_buf_put(b, name, len);
	ptc_buf_zero(b, 64 - len);
}

Test(feature, build_ids_of_2010_have_no_pid)
{
	static const struct {
		uint16_t misc;
		int32_t pid;
		const char *name;
	} want[] = { { PERF_RECORD_MISC_KERNEL, -1, "[kernel.kallsyms]" },
		     { PERF_RECORD_MISC_USER, -1, "/lib64/libc.so.6" },
		     { PERF_RECORD_MISC_GUEST_KERNEL, 0, "[guest.kernel.kallsyms]" } };
	struct ptc_build_id_entry e;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_cur c;
	size_t i, len;

	for (i = 0; i < 3; i++)
		put_2010(&b, want[i].misc, (uint8_t)(i + 1), want[i].name);
	c = ptc_cur_init(b.bytes, b.len);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 1);
		cr_assert_eq(e.pid, want[i].pid);
		cr_assert_eq(e.misc, want[i].misc);
		cr_assert(e.id.len == 20 && e.id.bytes[0] == i + 1 && e.id.bytes[19] == i + 1);
		cr_assert_str_eq(e.filename, want[i].name);
	}
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 0);
	for (len = 1; len < 96; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);

		cr_assert_eq(read_build_ids(bytes, len), PTC_E_FORMAT, "length %zu", len);
		free(bytes);
	}
	/* The flag says that the size byte is valid, so this is not the old form. */
	b.bytes[5] |= 0x80;
	b.bytes[32] = 20;
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_feature_next_build_id(&c, 0, &e, &err), 1);
	cr_assert_str_eq(e.filename, "nel.kallsyms]");
	ptc_buf_release(&b);
}
