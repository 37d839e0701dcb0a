/* SPDX-License-Identifier: MIT */
/* Description: opening and walking a perf.data file, and the refused inputs with their errors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "auxtrace/record/sideband.h"
#include "lib_perfdata.h"

enum { FEATURE_HIGH = 192 }; /* a bit that no feature uses */

static const struct ptc_time_conv clock_3ghz = { 31, 715827883, 5000 };

static int walk(const struct ptc_file *f, struct ptc_err *err);

/* Adds two AUXTRACE records, sideband records between them, and three features. */
static void build(struct pd *p)
{
	static const uint8_t trace[40] = { 2, 0x82 };

	pd_init_pt(p, &clock_3ghz);
	pd_comm(p, 10, 0, "sleep", false);
	pd_mmap2(p, 10, 0, 0x1000, 0x1000, 0, "/bin/sleep");
	pd_auxtrace(p, &(struct ptc_auxtrace){ .offset = 0, .idx = 1, .tid = 10, .cpu = -1 }, trace,
		    sizeof(trace));
	pd_aux(p, 10, 3, 100, 0, 40, 0);
	pd_auxtrace(p, &(struct ptc_auxtrace){ .offset = 40, .idx = 1, .tid = 10, .cpu = -1 },
		    trace, 8);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_feature(p, PTC_FEAT_STAT, NULL, 0);
	pd_feature(p, FEATURE_HIGH, "\1\0\0\0\0\0\0", 8);
}

static struct ptc_file *open_ok(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0, "%s", err.msg);
	return f;
}

/* A file with the records that a test added. */
struct opened {
	struct pd p;
	uint8_t *bytes;
	size_t len;
	struct ptc_file *f;
};

/* Finishes the file and opens it. */
static void open_it(struct opened *o)
{
	o->bytes = pd_finish(&o->p, &o->len);
	o->f = open_ok(o->bytes, o->len);
}

/*
 * Opens a file with one user-space record of perf and the events @a and @b, whose ids are 5 and 6.
 */
static void open_events(struct opened *o, const struct perf_event_attr *a,
			const struct perf_event_attr *b)
{
	const uint64_t ids[] = { 5, 6 };

	pd_init(&o->p);
	pd_attr(&o->p, a, &ids[0], 1);
	pd_attr(&o->p, b, &ids[1], 1);
	pd_raw(&o->p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	open_it(o);
}

static void close_it(struct opened *o)
{
	ptc_file_free(o->f);
	free(o->bytes);
	pd_release(&o->p);
}

static struct ptc_err open_fails(const uint8_t *bytes, size_t len, int code)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), code, "%s", err.msg);
	cr_assert_null(f, "not touched on failure");
	cr_assert_eq(strncmp(err.msg, "cannot read 'test': ", 20), 0, "%s", err.msg);
	return err;
}

Test(reader, attrs_features_and_records_are_there)
{
	static const uint32_t types[] = {
		PTC_REC_TIME_CONV, PTC_REC_AUXTRACE_INFO, PERF_RECORD_COMM, PERF_RECORD_MMAP2,
		PTC_REC_AUXTRACE,  PERF_RECORD_AUX,	  PTC_REC_AUXTRACE, PTC_REC_FINISHED_ROUND,
	};
	uint64_t pos = 0, last = 0, off;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len, i;

	build(&p);
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	cr_assert_str_eq(ptc_file_name(f), "test");
	cr_assert_eq(ptc_file_size(f), len);
	cr_assert_eq(ptc_file_data_size(f), p.data.len);
	cr_assert_eq(ptc_file_nattrs(f), 2);
	cr_assert_eq(ptc_file_attr(f, 0)->attr.config, 0x300e601);
	cr_assert_eq(ptc_file_attr(f, 1)->nids, 1);
	cr_assert_eq(ptc_file_attr(f, 1)->ids[0], PD_ID_DUMMY);
	cr_assert_eq(ptc_file_attr_of_id(f, PD_ID_PT), ptc_file_attr(f, 0));
	cr_assert_null(ptc_file_attr_of_id(f, 1));
	cr_assert(ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, &off));
	cr_assert_eq(ptc_cur_left(&c), 8);
	cr_assert_eq(c.pos, bytes + off);
	cr_assert(ptc_file_feature(f, PTC_FEAT_STAT, &c, NULL));
	cr_assert_eq(ptc_cur_left(&c), 0);
	cr_assert(ptc_file_feature(f, FEATURE_HIGH, &c, NULL));
	cr_assert(!ptc_file_feature(f, PTC_FEAT_ARCH, &c, NULL));
	cr_assert(!ptc_file_feature(f, 1000, &c, NULL));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		cr_assert_eq(ptc_file_next(f, &pos, &rec, &err), 1);
		cr_assert_eq(rec.type, types[i], "record %zu", i);
		cr_assert(rec.off > last);
		last = rec.off;
	}
	cr_assert_eq(ptc_file_next(f, &pos, &rec, &err), 0);
	cr_assert_eq(pos, ptc_file_data_size(f));
	cr_assert_eq(ptc_file_next(f, &pos, &rec, &err), 0, "the end stays the end");
	cr_assert_null(ptc_file_damage(f));
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(reader, attrs_of_every_published_size_are_read)
{
	uint32_t size;

	for (size = PERF_ATTR_SIZE_VER0; size <= PERF_ATTR_SIZE_VER9 + 16; size += 8) {
		struct ptc_file *f;
		struct pd p;
		uint8_t *bytes;
		size_t len;

		build(&p);
		p.attr_size = size;
		bytes = pd_finish(&p, &len);
		f = open_ok(bytes, len);
		cr_assert_eq(ptc_file_attr(f, 0)->attr.config, 0x300e601);
		cr_assert_eq(ptc_file_attr(f, 0)->attr.size, size);
		cr_assert_eq(ptc_file_attr(f, 1)->ids[0], PD_ID_DUMMY);
		ptc_file_free(f);
		free(bytes);
		pd_release(&p);
	}
}

/* Walks the file and parses each record. Returns the code that ended the walk. */
static int walk(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(f, &pos, &rec, err)) > 0) {
		struct ptc_sb sb;

		rc = ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

Test(reader, a_file_cut_at_every_length_is_refused_and_never_overread)
{
	struct pd p;
	uint8_t *whole;
	size_t len, cut;

	build(&p);
	whole = pd_finish(&p, &len);
	for (cut = 0; cut < len; cut++) {
		uint8_t *bytes = pd_exact(whole, cut);
		const struct ptc_err err = open_fails(bytes, cut, PTC_E_FORMAT);

		cr_assert(err.off <= len);
		free(bytes);
	}
	free(whole);
	pd_release(&p);
}

Test(reader, of_a_cut_file_what_is_there_can_be_seen)
{
	char path[] = "/tmp/ptcap-test-XXXXXX";
	const int fd = mkstemp(path);
	struct pd p;
	uint8_t *whole;
	size_t len, cut;
	int opened = 0;

	cr_assert(fd >= 0);
	build(&p);
	whole = pd_finish(&p, &len);
	cr_assert_eq(write(fd, whole, len), (ssize_t)len);
	for (cut = len; cut-- > 0;) {
		struct ptc_file *f = NULL;
		struct ptc_err err;

		cr_assert_eq(ftruncate(fd, (off_t)cut), 0);
		if (ptc_file_open_damaged(path, &f, &err))
			continue;
		opened++;
		cr_assert_not_null(ptc_file_damage(f));
		cr_assert_not_null(strstr(ptc_file_damage(f)->msg, path));
		(void)walk(f, &err);
		ptc_file_free(f);
	}
	cr_assert_gt(opened, (int)p.data.len, "all lengths behind the header");
	cr_assert_eq(unlink(path), 0);
	(void)close(fd);
	free(whole);
	pd_release(&p);
}

static void walk_damaged(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f;
	struct ptc_err err;

	if (ptc_file_open_bytes(bytes, len, "test", &f, &err))
		return;
	(void)walk(f, &err);
	ptc_file_free(f);
}

Test(reader, every_damaged_byte_is_survived)
{
	struct pd p;
	uint8_t *whole;
	size_t len;

	build(&p);
	whole = pd_finish(&p, &len);
	pd_each_damage(whole, len, walk_damaged);
	free(whole);
	pd_release(&p);
}

Test(reader, other_formats_are_refused_by_name)
{
	static const struct {
		const char *bytes, *word;
		size_t len;
		int code;
	} cases[] = {
		{ "", "empty", 0, PTC_E_FORMAT },
		{ "ELF", "too short", 3, PTC_E_FORMAT },
		{ "\177ELF............", "wrong magic", 16, PTC_E_FORMAT },
		{ "PERFFILE\150\0\0\0\0\0\0", "PERFFILE", 16, PTC_E_UNSUPPORTED },
		{ "2ELIFREP\0\0\0\0\0\0\0\150", "big-endian", 16, PTC_E_UNSUPPORTED },
		{ "2ELIFREP\0\0\0\0\0\0\0\20", "big-endian", 16, PTC_E_UNSUPPORTED },
		{ "PERFILE2\0\0\0\0\0\0\0", "header size 0", 16, PTC_E_FORMAT },
		{ "PERFILE2\17\0\0\0\0\0\0", "header size 15", 16, PTC_E_FORMAT },
		{ "PERFILE2\107\0\0\0\0\0\0", "header size 71", 16, PTC_E_FORMAT },
		{ "PERFILE2\110\0\0\0\0\0\0", "cut off", 16, PTC_E_FORMAT },
		{ "PERFILE2\151\0\0\0\0\0\0", "header size 105", 16, PTC_E_FORMAT },
		{ "PERFILE2\21\0\0\0\0\0\0", "header size 17", 16, PTC_E_FORMAT },
		{ "PERFILE2\150\0\0\0\0\0\0", "cut off", 16, PTC_E_FORMAT },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *bytes = pd_exact(cases[i].bytes, cases[i].len);
		const struct ptc_err err = open_fails(bytes, cases[i].len, cases[i].code);

		cr_assert_not_null(strstr(err.msg, cases[i].word), "%s", err.msg);
		free(bytes);
	}
}

Test(reader, what_can_be_no_recording_is_refused_by_name)
{
	char path[] = "/tmp/ptcap-test-XXXXXX";
	struct ptc_file *f = NULL;
	struct ptc_err err;

	cr_assert_not_null(mkdtemp(path));
	cr_assert_eq(ptc_file_open(path, &f, &err), PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "it is a folder, but has no file 'data'"), "%s",
			   err.msg);
	cr_assert_eq(rmdir(path), 0);
	cr_assert_eq(ptc_file_open(path, &f, &err), PTC_E_NOT_EXIST);
	cr_assert_eq(ptc_file_open("/dev/zero", &f, &err), PTC_E_UNSUPPORTED);
	cr_assert_not_null(strstr(err.msg, "not a regular file"), "%s", err.msg);
	cr_assert_null(f);
}

Test(reader, a_header_from_before_there_were_features_is_read)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	bytes = pd_finish(&p, &len);
	bytes[8] = 72;
	f = open_ok(bytes, len);
	cr_assert_eq(ptc_file_nattrs(f), 2);
	cr_assert(!ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL), "the bitmap is not its own");
	cr_assert_eq(walk(f, &err), 0);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(reader, an_unfinished_file_is_refused_saying_so)
{
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	bytes = pd_finish(&p, &len);
	memset(bytes + 48, 0, 8);
	cr_assert_not_null(strstr(open_fails(bytes, len, PTC_E_FORMAT).msg, "not finished"));
	free(bytes);
	pd_release(&p);
}

/* Overwrites the u64 at @off of a good file. The file must be refused with @code. */
static void check_header(size_t off, uint64_t v, int code)
{
	struct pd p;
	uint8_t *bytes;
	size_t len, i;

	build(&p);
	bytes = pd_finish(&p, &len);
	for (i = 0; i < 8; i++)
		bytes[off + i] = (uint8_t)(v >> 8 * i);
	(void)open_fails(bytes, len, code);
	free(bytes);
	pd_release(&p);
}

Test(reader, sizes_that_lead_outside_are_refused)
{
	const size_t ids = PTC_FILE_HEADER_SIZE + 128; /* id section of the first attr */

	check_header(16, 0, PTC_E_FORMAT); /* attr entry size */
	check_header(16, 79, PTC_E_FORMAT);
	check_header(16, UINT64_MAX, PTC_E_FORMAT);
	check_header(24, UINT64_MAX - 8, PTC_E_FORMAT); /* attrs offset */
	check_header(32, 1, PTC_E_FORMAT);		/* attrs size: not a multiple */
	check_header(32, UINT64_C(144) << 40, PTC_E_LIMIT);
	check_header(40, UINT64_MAX, PTC_E_FORMAT); /* data offset */
	check_header(48, UINT64_MAX, PTC_E_FORMAT); /* data size */
	check_header(ids, UINT64_MAX, PTC_E_FORMAT);
	check_header(ids + 8, 7, PTC_E_LIMIT);
	check_header(ids + 8, UINT64_C(8) << 21, PTC_E_LIMIT);
	check_header(ids + 8, 1 << 20, PTC_E_FORMAT);
}

Test(reader, ids_that_lie_over_each_other_count_each_time)
{
	const uint64_t half = PTC_LIMIT_IDS / 2;
	const size_t first = PTC_FILE_HEADER_SIZE + 128;
	uint8_t *zero = calloc(1, 65000);
	struct pd p;
	uint8_t *bytes;
	size_t len, i;
	uint64_t n;

	cr_assert_not_null(zero);
	build(&p);
	while (p.data.len < 8 * (half + 1))
		pd_raw(&p, 90, 0, zero, 65000);
	bytes = pd_finish(&p, &len);
	for (n = half; n <= half + 1; n++) {
		for (i = 0; i < 2; i++) {
			uint64_t section[2] = { ptc_le64(bytes + 40), 8 * n };

			memcpy(bytes + first + i * 144, section, 16);
		}
		if (n == half)
			ptc_file_free(open_ok(bytes, len));
		else
			(void)open_fails(bytes, len, PTC_E_LIMIT);
	}
	free(bytes);
	free(zero);
	pd_release(&p);
}

Test(reader, a_record_or_payload_beyond_the_data_ends_the_walk)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	pd_init(&p);
	pd_raw(&p, 90, 0, "12345678", 8);
	pd_raw(&p, 91, 0, NULL, 0);
	p.data.bytes[16 + 6] = 16; /* claims more bytes than the section has */
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	cr_assert_eq(walk(f, &err), PTC_E_FORMAT);
	cr_assert_eq(err.off, ptc_file_data_off(f) + 16);
	cr_assert_not_null(strstr(err.msg, "'test'"));
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);

	pd_init(&p);
	pd_auxtrace(&p, &(struct ptc_auxtrace){ .idx = 0 }, "12345678", 8);
	p.data.bytes[8] = 9;
	pd_feature(&p, PTC_FEAT_HOSTNAME, "12345678", 8); /* the data section ends in the trace */
	bytes = pd_finish(&p, &len);
	f = open_ok(bytes, len);
	cr_assert_eq(walk(f, &err), PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "9 bytes of trace"), "%s", err.msg);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Returns a record of @type with @word in its body, @back words before the end. */
static struct ptc_rec with_word(uint32_t type, uint8_t *body, size_t back, uint64_t word)
{
	size_t i;

	for (i = 0; i < 8; i++)
		body[64 - 8 * back + i] = (uint8_t)(word >> 8 * i);
	return (struct ptc_rec){ .type = type, .body = ptc_cur_init(body, 64) };
}

Test(reader, the_id_tells_whose_trailer_it_is)
{
	struct perf_event_attr a = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU,
				     .sample_id_all = 1 };
	struct perf_event_attr b = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID,
				     .sample_id_all = 1 };
	uint8_t body[64] = { 0 };
	struct ptc_rec rec;
	struct opened o;

	open_events(&o, &a, &b);
	rec = with_word(PERF_RECORD_COMM, body, 1, 6);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), b.sample_type);
	rec = with_word(PERF_RECORD_COMM, body, 1, 5);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), a.sample_type);
	rec = with_word(PERF_RECORD_COMM, body, 1, 0);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), a.sample_type, "made up by perf");
	rec.body.end = rec.body.pos + 7;
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), a.sample_type, "too short for an id");
	rec = with_word(PTC_REC_AUXTRACE, body, 1, 6);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), 0, "perf's own records have none");
	rec = with_word(PERF_RECORD_SAMPLE, body, 8, 6);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), 0, "nor have samples");
	cr_assert_eq(ptc_file_sample_attr(o.f, &rec), ptc_file_attr(o.f, 1));
	close_it(&o);
}

Test(reader, ids_are_found_in_whatever_order_they_are)
{
	static const uint64_t ids[2][3] = { { 9, 2, 7 }, { 4, UINT64_MAX, 1 } };
	struct opened o;
	size_t i, j;

	pd_init(&o.p);
	for (i = 0; i < 2; i++)
		pd_attr(&o.p, &(struct perf_event_attr){ .type = (uint32_t)i }, ids[i], 3);
	pd_raw(&o.p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	open_it(&o);
	for (i = 0; i < 2; i++)
		for (j = 0; j < 3; j++)
			cr_assert_eq(ptc_file_attr_of_id(o.f, ids[i][j]), ptc_file_attr(o.f, i));
	cr_assert_null(ptc_file_attr_of_id(o.f, 3));
	close_it(&o);
}

Test(reader, an_id_without_identifier_is_found_where_all_events_have_it)
{
	struct perf_event_attr a = { .sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
						    PERF_SAMPLE_TID,
				     .sample_id_all = 1 };
	struct perf_event_attr b = { .sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
						    PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD,
				     .sample_id_all = 1 };
	uint8_t body[64] = { 0 };
	struct ptc_rec rec;
	struct opened o;

	open_events(&o, &a, &b);
	rec = with_word(PERF_RECORD_COMM, body, 2, 6); /* ID CPU */
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), b.sample_type);
	memset(body, 0, sizeof(body));
	rec = with_word(PERF_RECORD_SAMPLE, body, 7, 6); /* TID ID */
	cr_assert_eq(ptc_file_sample_attr(o.f, &rec), ptc_file_attr(o.f, 1));
	close_it(&o);
}

Test(reader, records_without_sample_id_all_have_no_trailer)
{
	struct perf_event_attr a = { .sample_type = PD_SAMPLE_TYPE };
	const struct ptc_rec rec = { .type = PERF_RECORD_COMM };
	struct opened o;

	pd_init(&o.p);
	pd_attr(&o.p, &a, NULL, 0);
	pd_raw(&o.p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	open_it(&o);
	cr_assert_eq(ptc_file_trailer_type(o.f, &rec), 0);
	close_it(&o);
}

static void put_name(struct pd *p, uint64_t id, const char *name)
{
	uint8_t body[32] = { 2 }; /* PERF_EVENT_UPDATE__NAME */

	body[8] = (uint8_t)id;
	(void)snprintf((char *)body + 16, 16, "%s", name);
	pd_raw(p, PTC_REC_EVENT_UPDATE, 0, body, sizeof(body));
}

/* perf stat record writes such files. */
Test(reader, updates_in_front_of_the_kernels_records_tell_of_events)
{
	struct ptc_err err;
	struct opened o;

	pd_init_pt(&o.p, NULL);
	put_name(&o.p, PD_ID_PT, "first");
	put_name(&o.p, PD_ID_PT, "second");
	pd_comm(&o.p, 10, 0, "sleep", false);
	put_name(&o.p, PD_ID_DUMMY, "late");
	open_it(&o);
	cr_assert_str_eq(ptc_file_attr(o.f, 0)->name, "second");
	cr_assert_null(ptc_file_attr(o.f, 1)->name);
	ptc_file_free(o.f);
	/* In damaged mode the reader scans everything, so updates behind the records count too. */
	cr_assert_eq(ptc_file_open_damaged_bytes(o.bytes, o.len, "test", &o.f, &err), 0);
	cr_assert_str_eq(ptc_file_attr(o.f, 0)->name, "second");
	cr_assert_str_eq(ptc_file_attr(o.f, 1)->name, "late");
	cr_assert_null(ptc_file_damage(o.f));
	close_it(&o);
}
