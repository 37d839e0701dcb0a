/* SPDX-License-Identifier: MIT */
/* Description: the reader reads what the writer wrote. A writer that fails leaves no file. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/writer/writer.h"
#include "lib_perfdata.h"

enum { FEATURE_HIGH = 192 }; /* a bit that no feature uses */

static const size_t COMM = 56; /* size of put_comm's record */

static char folder[] = "/tmp/ptcap-test-XXXXXX";
static char path[64];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/perf.data", folder);
}

static size_t count_files(void)
{
	DIR *d = opendir(folder);
	size_t n = 0;

	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 2; /* . and .. */
}

static void teardown(void)
{
	(void)unlink(path);
	cr_assert_eq(count_files(), 0, "nothing else was left");
	cr_assert_eq(rmdir(folder), 0);
}

static const struct perf_event_attr pt_attr = {
	.type = PD_PMU_TYPE,
	.config = 0x300e601,
	.sample_type = PD_SAMPLE_TYPE,
	.sample_id_all = 1,
};
static const struct perf_event_attr dummy_attr = {
	.type = 1,
	.config = 9,
	.sample_type = PD_SAMPLE_TYPE,
	.sample_id_all = 1,
};
static const uint64_t pt_ids[] = { 100, 101, 102 };
static const uint64_t dummy_ids[] = { 200 };

static struct ptc_writer *start(void)
{
	struct ptc_writer *w = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_writer_new(path, &w, &err), 0);
	cr_assert_eq(ptc_writer_attr(w, &pt_attr, "intel_pt//u", pt_ids, 3, &err), 0);
	cr_assert_eq(ptc_writer_attr(w, &dummy_attr, "dummy:u", dummy_ids, 1, &err), 0);
	return w;
}

/* Writes one sideband record, cut in two at @cut as at the end of a ring. */
static int put_comm(struct ptc_writer *w, size_t cut, struct ptc_err *err)
{
	struct ptc_seg seg[2];
	struct pd p;
	int rc;

	pd_init(&p);
	pd_comm(&p, 7, 8, "writer", true);
	seg[0] = (struct ptc_seg){ p.data.bytes, cut };
	seg[1] = (struct ptc_seg){ p.data.bytes + cut, p.data.len - cut };
	rc = ptc_writer_records(w, seg, err);
	pd_release(&p);
	return rc;
}

Test(writer, what_was_written_is_read_again, .init = setup, .fini = teardown)
{
	enum { BIG = 700001 };
	uint8_t *trace = malloc(BIG);
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_writer *w = start();
	uint64_t pos = 0, off, n;
	size_t i, comms = 0, pieces = 0;
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;

	for (i = 0; i < BIG; i++)
		trace[i] = (uint8_t)(i % 251);
	cr_assert_eq(ptc_writer_data_size(w), 0);
	for (i = 0; i <= 64; i += 8)
		cr_assert_eq(put_comm(w, i < 56 ? i + 3 : 0, &err), 0);
	/* A small chunk across the wrap, one larger than the writer's buffer, and an empty one. */
	cr_assert_eq(ptc_writer_auxtrace(
			     w,
			     &(struct ptc_auxtrace){
				     .offset = 0, .idx = 2, .tid = 7, .cpu = -1, .reference = 5 },
			     (struct ptc_seg[2]){ { trace, 10 }, { trace + 10, 3 } }, &err),
		     0);
	cr_assert_eq(ptc_writer_auxtrace(
			     w, &(struct ptc_auxtrace){ .offset = 13, .idx = 2, .tid = 7 },
			     (struct ptc_seg[2]){ { trace + 13, BIG - 13 }, { NULL, 0 } }, &err),
		     0);
	cr_assert_eq(ptc_writer_auxtrace(w, &(struct ptc_auxtrace){ .idx = 3 },
					 (struct ptc_seg[2]){ { NULL, 0 }, { NULL, 0 } }, &err),
		     0);
	cr_assert_eq(put_comm(w, 0, &err), 0);
	cr_assert_eq(ptc_writer_feature(w, FEATURE_HIGH, "12345678", 8, &err), 0);
	cr_assert_eq(ptc_writer_feature(w, PTC_FEAT_HOSTNAME, "old", 3, &err), 0);
	cr_assert_eq(ptc_writer_feature(w, PTC_FEAT_HOSTNAME, "newer", 5, &err), 0);
	off = ptc_writer_data_size(w);
	cr_assert_eq(access(path, F_OK), -1, "not there before commit");
	cr_assert_eq(ptc_writer_commit(w, &err), 0);

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_file_data_size(f), off);
	cr_assert_eq(ptc_file_nattrs(f), 2);
	cr_assert_eq(ptc_file_attr(f, 0)->attr.size, PERF_ATTR_SIZE_VER7);
	cr_assert_eq(ptc_file_attr(f, 0)->attr.config, pt_attr.config);
	cr_assert_eq(ptc_file_attr(f, 0)->nids, 3);
	cr_assert_eq(ptc_file_attr_of_id(f, 200), ptc_file_attr(f, 1));
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		if (rec.type == PTC_REC_AUXTRACE) {
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0);
			pieces++;
		} else {
			struct ptc_sb sb;

			cr_assert_eq(ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, &err),
				     1);
			cr_assert_eq(sb.type, PERF_RECORD_COMM);
			cr_assert_str_eq(sb.u.comm.comm, "writer");
			comms++;
		}
	}
	cr_assert_eq(pos, ptc_file_data_size(f));
	cr_assert(comms == 10 && pieces == 3);

	cr_assert_eq(ix.nqueues, 2);
	cr_assert(ix.queues[0].nchunks == 2 && ix.queues[0].chunks[0].reference == 5);
	c = ptc_chunk_bytes(f, &ix.queues[0].chunks[0]);
	cr_assert_eq(ptc_cur_left(&c), 16, "padded to 8");
	cr_assert_eq(memcmp(c.pos, trace, 13), 0);
	cr_assert_eq(memcmp(c.pos + 13, "\0\0\0", 3), 0, "with PAD");
	c = ptc_chunk_bytes(f, &ix.queues[0].chunks[1]);
	cr_assert_eq(ptc_cur_left(&c), (size_t)(BIG - 13 + 7) / 8 * 8);
	cr_assert_eq(memcmp(c.pos, trace + 13, BIG - 13), 0);

	cr_assert(ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL));
	cr_assert(ptc_cur_left(&c) == 5 && !memcmp(c.pos, "newer", 5));
	cr_assert(ptc_file_feature(f, FEATURE_HIGH, &c, NULL));
	cr_assert_eq(memcmp(c.pos, "12345678", 8), 0);
	cr_assert(ptc_file_feature(f, PTC_FEAT_EVENT_DESC, &c, &off));
	cr_assert_eq(ptc_feature_open_event_desc(c, off, &it, &err), 0);
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 1);
	cr_assert_str_eq(e.name, "intel_pt//u");
	cr_assert(ptc_file_feature(f, PTC_FEAT_AUXTRACE, &c, NULL));
	cr_assert(ptc_cur_le64(&c, &n));
	cr_assert_eq(n, 3);
	for (i = 0; i < 2; i++) {
		cr_assert(ptc_cur_le64(&c, &off) && ptc_cur_le64(&c, &n));
		cr_assert_eq(n, 48);
		cr_assert_eq(off + 48, ix.queues[0].chunks[i].file_off);
	}
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(trace);
}

/* Decompresses a COMPRESSED record to @to. Returns the number of bytes. */
static size_t inflate(ZSTD_DCtx *z, const struct ptc_rec *rec, void *to, size_t room)
{
	ZSTD_inBuffer in = { rec->body.pos, ptc_cur_left(&rec->body), 0 };
	ZSTD_outBuffer out = { to, room, 0 };

	cr_assert(!ZSTD_isError(ZSTD_decompressStream(z, &out, &in)));
	cr_assert_eq(in.pos, in.size);
	return out.pos;
}

/* COMPRESSED holds the records written since the last plain record or AUXTRACE record. */
Test(writer, compressed_records_stay_in_front_of_what_follows_them, .init = setup, .fini = teardown)
{
	static const uint32_t want[] = { PTC_REC_FINISHED_INIT,	 PTC_REC_COMPRESSED,
					 PTC_REC_AUXTRACE,	 PTC_REC_COMPRESSED,
					 PTC_REC_FINISHED_ROUND, PTC_REC_COMPRESSED };
	ZSTD_DCtx *z = ZSTD_createDCtx();
	struct ptc_writer_packed packed;
	struct ptc_buf plain = PTC_BUF_INIT;
	struct ptc_writer *w = start();
	struct ptc_compressed info;
	uint8_t back[4096];
	size_t i, n = 0, got = 0;
	struct ptc_cur c, index;
	uint64_t off = 0, v;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;

	ptc_rec_end(&plain, ptc_rec_begin(&plain, PTC_REC_FINISHED_INIT, 0));
	ptc_rec_end(&plain, ptc_rec_begin(&plain, PTC_REC_FINISHED_ROUND, 0));
	cr_assert_eq(ptc_writer_compress(w, 3, &err), 0);
	cr_assert_eq(ptc_writer_plain(w, plain.bytes, 8, &err), 0);
	for (i = 0; i < 5; i++)
		cr_assert_eq(put_comm(w, 3 * i, &err), 0);
	cr_assert_eq(ptc_writer_auxtrace(w, &(struct ptc_auxtrace){ .idx = 2 },
					 (struct ptc_seg[2]){ { "12345678", 8 }, { NULL, 0 } },
					 &err),
		     0);
	cr_assert_eq(put_comm(w, 0, &err), 0);
	cr_assert_eq(ptc_writer_plain(w, plain.bytes + 8, 8, &err), 0);
	cr_assert_eq(put_comm(w, 0, &err), 0);
	ptc_writer_packed(w, &packed);
	cr_assert_eq(packed.in, 7 * COMM);
	cr_assert_eq(ptc_writer_commit(w, &err), 0);

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	/* Check the records as stored in the file: the reader would decompress them. */
	cr_assert(ptc_file_bytes(f, ptc_file_data_off(f), ptc_file_data_size(f), &c));
	while (ptc_rec_next(&c, off, &rec, &err) > 0) {
		cr_assert(n < 6 && rec.type == want[n], "record %zu has type %u", n, rec.type);
		off += 8 + ptc_cur_left(&rec.body);
		if (rec.type == PTC_REC_COMPRESSED)
			got += inflate(z, &rec, back + got, sizeof(back) - got);
		if (rec.type == PTC_REC_AUXTRACE) {
			cr_assert_eq(got, 5 * COMM);
			cr_assert(ptc_cur_skip(&c, 8));
			cr_assert(ptc_file_feature(f, PTC_FEAT_AUXTRACE, &index, NULL));
			cr_assert(ptc_cur_le64(&index, &v) && v == 1 && ptc_cur_le64(&index, &v));
			cr_assert_eq(ptc_file_data_off(f) + off - 48, v);
			off += 8;
		}
		n++;
	}
	cr_assert(n == 6 && got == 7 * COMM);
	c = ptc_cur_init(back, got);
	for (i = 0; i < 7; i++) {
		struct ptc_sb sb;

		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
		cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &sb, &err), 1);
		cr_assert_str_eq(sb.u.comm.comm, "writer");
	}
	cr_assert(ptc_file_feature(f, PTC_FEAT_COMPRESSED, &c, NULL));
	cr_assert(ptc_feature_get_compressed(&c, &info));
	cr_assert(info.version == 1 && info.type == 1 && info.level == 3 && info.ratio >= 1 &&
		  info.mmap_len == 65536);
	ptc_file_free(f);
	ptc_buf_release(&plain);
	(void)ZSTD_freeDCtx(z);
}

Test(writer, a_compression_level_that_is_none_is_refused, .init = setup, .fini = teardown)
{
	struct ptc_writer *w = start();
	struct ptc_err err;

	cr_assert_eq(ptc_writer_compress(w, 99, &err), PTC_E_USAGE);
	ptc_writer_free(w);
}

Test(writer, without_commit_nothing_is_left, .init = setup, .fini = teardown)
{
	struct ptc_writer *w = start();
	struct ptc_err err;

	cr_assert_eq(put_comm(w, 8, &err), 0);
	ptc_writer_free(w);
	ptc_writer_free(NULL);
	cr_assert_eq(count_files(), 0);
}

Test(writer, without_records_it_still_commits, .init = setup, .fini = teardown)
{
	struct ptc_writer *w = start();
	struct ptc_err err;
	struct stat st;

	cr_assert_eq(ptc_writer_commit(w, &err), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_gt(st.st_size, PTC_FILE_HEADER_SIZE);
}

/*
 * Runs in a child whose files may have at most @limit bytes. Returns 0 if the failure was as
 * expected, 1 if none happened, else a line number.
 */
static int fill(rlim_t limit, bool compressed)
{
	const struct rlimit r = { limit, limit };
	static uint8_t trace[100000];
	struct ptc_writer *w = NULL;
	struct ptc_err err = { .code = PTC_OK };
	int i, rc = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &r) || ptc_writer_new(path, &w, &err) ||
	    ptc_writer_attr(w, &pt_attr, "intel_pt//u", pt_ids, 3, &err))
		return __LINE__;
	if (compressed && ptc_writer_compress(w, 1, &err))
		return __LINE__;
	for (i = 0; i < 5 && !rc; i++) {
		rc = put_comm(w, 8, &err);
		rc = rc ? rc :
			  ptc_writer_auxtrace(
				  w, &(struct ptc_auxtrace){ .idx = 0 },
				  (struct ptc_seg[2]){ { trace, sizeof(trace) }, { NULL, 0 } },
				  &err);
	}
	if (rc) { /* later calls must fail too */
		if (put_comm(w, 8, &err) != PTC_E_IO || err.sys != EFBIG)
			return __LINE__;
	}
	rc = ptc_writer_commit(w, &err);
	if (!rc)
		return 1;
	if (rc != PTC_E_IO || err.sys != EFBIG || !strstr(err.msg, path))
		return __LINE__;
	return count_files() ? __LINE__ : 0;
}

Test(writer, a_full_disk_leaves_nothing_wherever_it_strikes, .init = setup, .fini = teardown)
{
	static const rlim_t limits[] = { 0, 1, 104, 1000, 100000, 262144, 400000, 500400, 500700 };
	size_t i;

	for (i = 0; i < 2 * sizeof(limits) / sizeof(limits[0]); i++) {
		const pid_t pid = fork();
		int status;

		if (!pid)
			_exit(fill(limits[i / 2], i % 2) & 0xff);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert(WIFEXITED(status));
		cr_assert_eq(WEXITSTATUS(status), 0, "limit %zu: %d", (size_t)limits[i / 2],
			     WEXITSTATUS(status));
	}
}

/* Writes records and trace until the file is full; *@ret_calls: the number of successful calls. */
static int fill_up(struct ptc_writer *w, size_t *ret_calls, struct ptc_err *err)
{
	static uint8_t trace[200000];
	int rc = 0;

	for (*ret_calls = 0; *ret_calls < 40; ++*ret_calls) {
		const size_t len = *ret_calls % 8 == 7 ? sizeof(trace) * 4 / 5 : 3000;
		const struct ptc_seg seg[2] = { { trace, len }, { trace, len / 2 } };

		rc = *ret_calls % 2 ?
			     ptc_writer_auxtrace(w, &(struct ptc_auxtrace){ .idx = 0 }, seg, err) :
			     put_comm(w, 8, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Checks that everything before the cut is kept, also the data after the cut, and nothing else. */
static void check_cut(size_t calls, bool compressed)
{
	struct ptc_index index = PTC_INDEX_INIT;
	size_t comms = 0, pieces = 0, inits = 0;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;
	int rc;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	while ((rc = ptc_file_next(f, &pos, &rec, &err)) > 0) {
		comms += rec.type == PERF_RECORD_COMM;
		pieces += rec.type == PTC_REC_AUXTRACE;
		inits += rec.type == PTC_REC_FINISHED_INIT;
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&index, f, &rec, &err), 0);
	}
	cr_assert_eq(rc, 0, "%s", err.msg);
	cr_assert_eq(pieces, calls / 2);
	if (compressed) /* data in the compressor is lost */
		cr_assert(comms == (calls + 1) / 2 || comms == calls / 2);
	else
		cr_assert_eq(comms, (calls + 1) / 2);
	cr_assert_eq(inits, 1);
	cr_assert(ptc_index_agrees(&index, f, &err), "%s", err.msg);
	ptc_index_release(&index);
	ptc_file_free(f);
}

Test(writer, where_the_disk_was_full_it_is_cut_and_whole, .init = setup, .fini = teardown)
{
	static const rlim_t limits[] = {
		3000, 20000, 60000, 262143, 262144, 270000, 310000, 330000
	};
	static const uint64_t init = (uint64_t)8 << 48 | PTC_REC_FINISHED_INIT;
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	size_t i, calls, failed = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 2 * sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit r = { limits[i / 2], RLIM_INFINITY };
		struct ptc_writer *w = start();
		struct ptc_err err = { .code = PTC_OK };

		if (i % 2)
			cr_assert_eq(ptc_writer_compress(w, 1, &err), 0);
		cr_assert(ptc_writer_reserve(w));
		cr_assert_eq(count_files(), 0, "what is kept has no name");
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
		if (fill_up(w, &calls, &err)) { /* simulates a full disk */
			failed++;
			cr_assert(err.code == PTC_E_IO && err.sys == EFBIG);
			cr_assert_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
			cr_assert_eq(ptc_writer_cut(w, &err), 0, "%s", err.msg);
		}
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
		cr_assert_eq(ptc_writer_plain(w, &init, sizeof(init), &err), 0);
		cr_assert_eq(ptc_writer_commit(w, &err), 0, "%s", err.msg);
		check_cut(calls, i % 2);
		(void)unlink(path);
	}
	cr_assert_geq(failed, 10, "that is no test");
}

Test(writer, nothing_is_cut_without_a_reserve, .init = setup, .fini = teardown)
{
	const struct rlimit r = { 20000, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	struct ptc_writer *w = start();
	struct ptc_err err = { .code = PTC_OK };
	size_t calls;

	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
	cr_assert_eq(fill_up(w, &calls, &err), PTC_E_IO);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
	memset(&err, 0, sizeof(err));
	cr_assert_eq(ptc_writer_cut(w, &err), PTC_E_IO);
	cr_assert(err.sys == EFBIG && strstr(err.msg, path));
	ptc_writer_free(w);
}

/* Events that are opened during recording. */
Test(writer, ids_that_come_late_are_behind_the_data, .init = setup, .fini = teardown)
{
	const uint64_t all[] = { 100, 101, 102, 103, 104 };
	struct ptc_writer *w = start();
	struct ptc_file *f;
	struct ptc_err err;
	size_t i;

	cr_assert_eq(put_comm(w, 8, &err), 0);
	cr_assert_eq(ptc_writer_late_ids(w, 0, all, 5, &err), 0);
	cr_assert_eq(ptc_writer_commit(w, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	cr_assert(ptc_file_attr(f, 0)->nids == 5 && ptc_file_attr(f, 1)->nids == 1);
	for (i = 0; i < 5; i++)
		cr_assert_eq(ptc_file_attr(f, 0)->ids[i], all[i]);
	cr_assert_eq(ptc_file_attr(f, 1)->ids[0], dummy_ids[0]);
	ptc_file_free(f);
}

Test(writer, in_a_pipe_no_id_comes_late)
{
	const struct ptc_writer_opts opts = { .size = sizeof(opts), .pipe = true };
	struct ptc_writer *w;
	struct ptc_err err;

	cr_assert_eq(ptc_writer_new_as("-", &opts, &w, &err), 0);
	cr_assert_eq(ptc_writer_attr(w, &pt_attr, "intel_pt//u", pt_ids, 3, &err), 0);
	cr_assert_eq(ptc_writer_late_ids(w, 0, pt_ids, 3, &err), PTC_E_UNSUPPORTED);
	ptc_writer_free(w);
}

Test(writer, a_folder_that_does_not_exist_is_named)
{
	struct ptc_writer *w = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_writer_new("/nonexistent/perf.data", &w, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "/nonexistent/perf.data"));
	cr_assert_null(w);
}

Test(writer, takes_of_an_attr_what_its_size_says, .init = setup, .fini = teardown)
{
	struct perf_event_attr attr = { .config1 = 1, .config2 = 2, .aux_watermark = 3 };
	const uint32_t sizes[] = { PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER5, 0, 4096 };
	const struct perf_event_attr *got;
	struct ptc_writer *w;
	struct ptc_file *f;
	struct ptc_err err;
	size_t i;

	cr_assert_eq(ptc_writer_new(path, &w, &err), 0);
	for (i = 0; i < 4; i++) {
		attr.size = sizes[i];
		cr_assert_eq(ptc_writer_attr(w, &attr, "event", NULL, 0, &err), 0);
	}
	cr_assert_eq(put_comm(w, 0, &err), 0);
	cr_assert_eq(ptc_writer_commit(w, &err), 0);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	for (i = 0; i < 4; i++) {
		got = &ptc_file_attr(f, i)->attr;
		cr_assert_eq(got->config1, 1);
		cr_assert_eq(got->config2, i ? 2 : 0);
		cr_assert_eq(got->aux_watermark, i ? 3 : 0);
	}
	ptc_file_free(f);
}
