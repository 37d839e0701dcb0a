/* SPDX-License-Identifier: MIT */
/* Description: every false claim of a file is found. A sound file has no finding. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/feature/feature.h"
#include "auxtrace/record/ledger.h"
#include "auxtrace/record/userrec.h"
#include "fewer.h"
#include "findings.h"

static void index_entry(struct pd *p, uint64_t id)
{
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_id_index_entry e[3] = { { .id = PD_ID_PT, .cpu = -1, .tid = 7 },
						 { .id = PD_ID_DUMMY, .cpu = -1, .tid = 7 },
						 { .id = id, .cpu = -1, .tid = 7 } };
	size_t i;

	for (i = 0; i < (id ? 3 : 1); i++)
		ptc_id_index_put_entry(&b, &e[i]);
	u.u.id_index.entries = ptc_cur_init(b.bytes, b.len);
	ptc_user_put(&p->data, &u);
	ptc_buf_release(&b);
}

static void put_desc(struct pd *p, size_t n, uint64_t id)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const uint64_t ids[2] = { id, PD_ID_DUMMY };
	const struct ptc_event_desc d[2] = {
		{ &p->attrs[0].attr, "intel_pt//u", &ids[0], 1 },
		{ &p->attrs[1].attr, "dummy:u", &ids[1], 1 },
	};

	ptc_feature_put_event_desc(&b, d, n);
	vf_put_feature(p, PTC_FEAT_EVENT_DESC, &b);
}

static void put_time(struct pd *p, uint64_t first, uint64_t last)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_sample_time(&b, first, last);
	vf_put_feature(p, PTC_FEAT_SAMPLE_TIME, &b);
}

/* As in pipe mode: with free space behind the name, and @last as its last byte. */
static void put_build_id(struct pd *p, char last)
{
	char body[28 + 64] = { 0 }; /* pid, id, length of the id */

	(void)snprintf(body + 28, 64, "/bin/true");
	body[sizeof(body) - 1] = last;
	pd_raw(p, PTC_REC_HEADER_BUILD_ID, 0, body, sizeof(body));
}

static void put_index(struct pd *p, uint64_t off)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_auxtrace_entry e = { off, PTC_AUXTRACE_SIZE };

	ptc_feature_put_auxtrace(&b, &e, 1);
	vf_put_feature(p, PTC_FEAT_AUXTRACE, &b);
}

Test(verify, a_sound_file_has_no_finding)
{
	struct pd p;

	vf_sound(&p);
	vf_expect(&p, "");
	put_desc(&p, 2, PD_ID_PT);
	put_time(&p, 10, 20);
	index_entry(&p, 0);
	cr_assert(strstr(vf_found(&p), "id_index"), "the second id is in no ID_INDEX");
	pd_release(&p);
}

CASE(events_are_described_as_they_are, "", put_desc(&p, 2, PD_ID_PT))
CASE(an_event_with_another_id, "event_desc ", put_desc(&p, 2, PD_ID_PT + 1))
CASE(an_event_that_is_not_described, "event_desc ", put_desc(&p, 1, PD_ID_PT))
CASE(the_times_of_the_records, "", put_time(&p, 10, 20))
CASE(room_behind_a_name, "", put_build_id(&p, 0))
CASE(something_behind_a_name, "trailing ", put_build_id(&p, 1))
CASE(the_times_of_the_trace_as_perf_has_them, "", put_time(&p, 20, 20))
CASE(trace_in_front_of_the_times, "time ", put_time(&p, 21, 21))
CASE(trace_behind_the_times, "time ", put_time(&p, 10, 19))
CASE(times_of_no_record, "time ", put_time(&p, 9, 20))
CASE(times_behind_all_records, "time ", put_time(&p, 10, 21))
CASE(an_index_of_something_else, "index ", put_index(&p, 0x123))
CASE(an_id_index_with_a_stranger, "id_index ", index_entry(&p, 12345))
CASE(an_id_index_with_one_id_twice, "id_index ", index_entry(&p, PD_ID_PT))
CASE(an_id_index_that_lacks_one, "id_index ", index_entry(&p, 0))
CASE(a_clock_of_its_own, "info ",
     ptc_time_conv_put(&p.data, &(struct ptc_time_conv){ 30, 715827883, 5000000000 }))
CASE(a_feature_that_is_cut, "feature ", pd_feature(&p, PTC_FEAT_NRCPUS, "\1\0\0\0", 4))
CASE(a_feature_with_more, "feature ", pd_feature(&p, PTC_FEAT_TOTAL_MEM, "1234567890123456", 16))
CASE(a_feature_of_a_newer_writer, "", pd_feature(&p, 200, "abc", 3))
CASE(a_record_of_a_newer_writer, "", pd_raw(&p, 63, 0, "abcdefgh", 8))
CASE(a_record_with_more, "trailing ", pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, "12345678", 8))
CASE(a_record_that_is_too_short, "record ", pd_raw(&p, PTC_REC_THREAD_MAP, 0, NULL, 0))
CASE(bytes_no_aux_record_tells_of, "aux ", vf_piece(&p, 64, 64))
CASE(a_piece_twice, "aux ", vf_piece(&p, 0, 64))
CASE(a_piece_behind_one_that_is_padded, "", pd_aux(&p, 7, 0, 30, 64, 1, 0); vf_piece(&p, 64, 1);
     pd_aux(&p, 7, 0, 31, 65, 8, 0); vf_piece(&p, 65, 8))
CASE(a_piece_that_begins_in_the_one_before, "aux ", pd_aux(&p, 7, 0, 30, 64, 8, 0);
     vf_piece(&p, 56, 16))
CASE(a_piece_behind_a_hole, "aux ", pd_aux(&p, 7, 0, 30, 96, 32, 0); vf_piece(&p, 96, 32))
CASE(an_aux_record_without_its_bytes, "aux ", pd_aux(&p, 7, 0, 30, 64, 64, 0))
CASE(bytes_told_of_twice, "aux ", pd_aux(&p, 7, 0, 30, 32, 32, 0))
CASE(a_round_that_is_not_kept, "order ", pd_comm(&p, 7, 30, "x", false);
     pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0); pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
     pd_comm(&p, 7, 25, "x", false))

Test(verify, an_id_of_no_event)
{
	struct ptc_sb sb = { .type = PERF_RECORD_LOST, .u.lost = { 12345, 1 } };
	struct pd p;

	vf_sound(&p);
	pd_sb(&p, &sb);
	vf_expect(&p, "id ");
	pd_release(&p);
}

Test(verify, an_id_of_two_events)
{
	struct pd p;

	vf_sound(&p);
	p.attrs[1].ids[0] = PD_ID_PT;
	cr_assert(strstr(vf_found(&p), "attr "));
	pd_release(&p);
}

Test(verify, trace_of_no_pmu)
{
	struct pd p;

	vf_sound(&p);
	p.attrs[0].attr.type = 9;
	vf_expect(&p, "info ");
	pd_release(&p);
}

Test(verify, an_attr_of_another_size)
{
	struct pd p;
	uint8_t *bytes;
	size_t len;
	uint64_t attrs;

	vf_sound(&p);
	bytes = pd_finish(&p, &len);
	attrs = ptc_le64(bytes + 24);
	bytes[attrs + 4] = 120;
	cr_assert_str_eq(vf_found_in_bytes(bytes, len), "attr ");
	free(bytes);
	pd_release(&p);
}

/* Changes offsets in the file that pd_finish makes. */
Test(verify, sections_that_overlap_or_stop_short)
{
	struct pd p;
	uint8_t *bytes, *longer;
	size_t len, table;

	vf_sound(&p);
	pd_feature(&p, PTC_FEAT_HOSTNAME, "\4\0\0\0abc\0", 8);
	pd_feature(&p, PTC_FEAT_OSRELEASE, "\4\0\0\0def\0", 8);
	bytes = pd_finish(&p, &len);
	cr_assert_str_eq(vf_found_in_bytes(bytes, len), "");

	longer = calloc(1, len + 9);
	memcpy(longer, bytes, len);
	cr_assert_str_eq(vf_found_in_bytes(longer, len + 8), "", "perf leaves up to 8 zeros there");
	cr_assert_str_eq(vf_found_in_bytes(longer, len + 9), "layout ");
	longer[len] = 1;
	cr_assert_str_eq(vf_found_in_bytes(longer, len + 8), "layout ");
	free(longer);

	/*
	 * Both features use the bytes of the first. The bytes of the second then belong to no
	 * section.
	 */
	table = ptc_le64(bytes + 40) + ptc_le64(bytes + 48);
	memcpy(bytes + table + 16, bytes + table, 16);
	cr_assert_str_eq(vf_found_in_bytes(bytes, len), "layout layout ");
	free(bytes);
	pd_release(&p);
}

Test(verify, a_feature_in_front_of_another)
{
	struct pd p;
	uint8_t *bytes, entry[16];
	size_t len, table;

	vf_sound(&p);
	pd_feature(&p, PTC_FEAT_HOSTNAME, "\4\0\0\0abc\0", 8);
	pd_feature(&p, PTC_FEAT_OSRELEASE, "\4\0\0\0def\0", 8);
	bytes = pd_finish(&p, &len);
	table = ptc_le64(bytes + 40) + ptc_le64(bytes + 48);
	memcpy(entry, bytes + table, 16);
	memcpy(bytes + table, bytes + table + 16, 16);
	memcpy(bytes + table + 16, entry, 16);
	cr_assert_str_eq(vf_found_in_bytes(bytes, len), "layout ");
	free(bytes);
	pd_release(&p);
}

Test(verify, damage_is_a_finding_and_the_rest_is_verified)
{
	struct pd p;
	uint8_t *bytes, *cut;
	size_t len;

	vf_sound(&p);
	bytes = pd_finish(&p, &len);
	cut = pd_exact(bytes, len - 70);
	cr_assert(strstr(vf_found_in_bytes(cut, len - 70), "header "));
	free(cut);
	free(bytes);
	pd_release(&p);
}

CASE(a_record_of_an_event_that_cannot_be, "record ", {
	uint8_t attr[72] = { [4] = 68 }; /* no writer uses such an attr size */

	pd_raw(&p, PTC_REC_HEADER_ATTR, 0, attr, sizeof(attr));
})
CASE(a_sample_that_is_too_short, "record ", pd_raw(&p, PERF_RECORD_SAMPLE, 0, NULL, 0))
CASE(a_side_record_that_is_too_short, "record ", pd_raw(&p, PERF_RECORD_EXIT, 0, NULL, 0))
CASE(an_info_that_is_too_short, "record ",
     pd_raw(&p, PTC_REC_AUXTRACE_INFO, 0, "\1\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0", 16))
CASE(an_aux_record_of_no_queue, "aux ", pd_aux(&p, 99, 9, 30, 64, 8, 0))

Test(verify, trace_in_front_of_the_info)
{
	struct pd p;

	pd_init_pt(&p, &vf_clock);
	ptc_buf_reset(&p.data);
	vf_piece(&p, 0, 64);
	vf_expect(&p, "info ");
	pd_release(&p);
}

Test(verify, a_sample_and_no_event)
{
	struct pd p;

	pd_init(&p);
	pd_raw(&p, PERF_RECORD_SAMPLE, 0, "12345678", 8);
	vf_expect(&p, "record ");
	pd_release(&p);
}

/* A file opened as a whole file is walked up to the damage. The damage is a finding. */
Test(verify, a_record_that_is_not_one)
{
	struct ptc_verify_stats stats = PTC_VERIFY_STATS_INIT;
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len, n;
	char *text;
	FILE *out = open_memstream(&text, &n);

	vf_sound(&p);
	pd_raw(&p, 63, 0, NULL, 0);
	p.data.bytes[p.data.len - 2] = 4; /* a size smaller than the header */
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_verify(f, vf_take, out, &stats, &err), 0);
	fclose(out);
	cr_assert_str_eq(text, "record ");
	cr_assert_eq(stats.findings, 1);
	free(text);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

static char folder[] = "/tmp/ptcap-test-XXXXXX";

static const char *found_in_folder(void)
{
	static char text[64];
	struct ptc_verify_stats stats = PTC_VERIFY_STATS_INIT;
	struct ptc_file *f = NULL;
	struct ptc_err err;
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = 0;
	cr_assert_eq(ptc_file_open_damaged(folder, &f, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_verify(f, vf_take, out, &stats, &err), 0);
	ptc_file_free(f);
	fclose(out);
	return text;
}

Test(verify, files_of_a_folder_of_which_nothing_tells)
{
	const uint64_t version = 1;
	char data[64], part[64];
	struct pd p;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(data, sizeof(data), "%s/data", folder);
	(void)snprintf(part, sizeof(part), "%s/data.0", folder);
	vf_sound(&p);
	pd_write(&p, data);
	cr_assert_str_eq(found_in_folder(), "", "as perf record --kcore makes it");
	fclose(fopen(part, "w"));
	cr_assert_str_eq(found_in_folder(), "dir_format ");
	pd_feature(&p, PTC_FEAT_DIR_FORMAT, &version, sizeof(version));
	pd_write(&p, data);
	cr_assert_str_eq(found_in_folder(), "");
	cr_assert(!unlink(data) && !unlink(part) && !rmdir(folder));
	pd_release(&p);
}

/* With any byte changed, verify ends and never reads out of bounds. */
Test(verify, any_byte_may_be_wrong)
{
	struct ptc_verify_stats stats = PTC_VERIFY_STATS_INIT;
	struct ptc_err err;
	struct ptc_file *f;
	struct pd p;
	uint8_t *bytes;
	size_t len, i;
	FILE *out = fopen("/dev/null", "w");

	vf_sound(&p);
	put_desc(&p, 2, PD_ID_PT);
	put_time(&p, 10, 20);
	index_entry(&p, 12345);
	bytes = pd_finish(&p, &len);
	for (i = 0; i < len; i += FEWER(1, 3)) {
		const uint8_t was = bytes[i];

		bytes[i] = (uint8_t)(was ^ 0xff);
		if (!ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err)) {
			(void)ptc_verify(f, vf_take, out, &stats, &err);
			ptc_file_free(f);
		}
		bytes[i] = was;
	}
	fclose(out);
	free(bytes);
	pd_release(&p);
}
