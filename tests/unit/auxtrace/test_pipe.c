/* SPDX-License-Identifier: MIT */
/* Description: recordings in pipe mode, as bytes and through a pipe. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auxtrace/reader/aux_index.h"
#include "lib_packed.h"

static const struct ptc_time_conv conv = { 31, 715827883, 5000 };

static void build(struct pd *p)
{
	static const uint8_t trace[40] = { 2, 0x82 };

	pd_init_pt(p, &conv);
	pd_comm(p, 10, 0, "sleep", false);
	pd_auxtrace(p, &(struct ptc_auxtrace){ .offset = 0, .idx = 1, .tid = 10, .cpu = -1 }, trace,
		    sizeof(trace));
	pd_aux(p, 10, 3, 100, 0, 40, 0);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_feature(p, PTC_FEAT_TOTAL_MEM, "\1\0\0\0\0\0\0", 8);
}

static struct ptc_file *open_ok(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0, "%s", err.msg);
	return f;
}

/* Builds the pipe form and opens it. Caller frees *@ret_bytes after the file. */
static struct ptc_file *open_pipe(struct pd *p, uint8_t **ret_bytes)
{
	size_t len;

	*ret_bytes = pd_finish_pipe(p, &len);
	return open_ok(*ret_bytes, len);
}

static struct ptc_err open_fails(const uint8_t *bytes, size_t len, int code)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), code, "%s", err.msg);
	cr_assert_null(f);
	cr_assert_eq(strncmp(err.msg, "cannot read 'test': ", 20), 0, "%s", err.msg);
	return err;
}

Test(pipe, it_is_as_the_same_recording_in_a_file)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_file *file, *pipe;
	uint8_t *bytes, *piped;
	struct ptc_cur x, y;
	struct ptc_err err;
	unsigned int bit;
	struct pd p;
	size_t len, i;

	build(&p);
	bytes = pd_finish(&p, &len);
	file = open_ok(bytes, len);
	pipe = open_pipe(&p, &piped);
	cr_assert_eq(ptc_file_form(file), PTC_FORM_FILE);
	cr_assert_eq(ptc_file_form(pipe), PTC_FORM_PIPE);
	cr_assert_eq(pk_records(file, &a, &err), 0);
	cr_assert_eq(pk_records(pipe, &b, &err), 0);
	cr_assert_eq(a.len, b.len);
	cr_assert_eq(memcmp(a.bytes, b.bytes, a.len), 0);
	cr_assert_eq(ptc_file_nattrs(pipe), 2);
	for (i = 0; i < 2; i++) {
		const struct ptc_file_attr *q = ptc_file_attr(pipe, i);

		cr_assert_eq(memcmp(&q->attr, &ptc_file_attr(file, i)->attr, sizeof(q->attr)), 0);
		cr_assert_eq(q->nids, 1);
		cr_assert_eq(q->ids[0], ptc_file_attr(file, i)->ids[0]);
	}
	cr_assert_eq(ptc_file_attr_of_id(pipe, PD_ID_DUMMY), ptc_file_attr(pipe, 1));
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		cr_assert_eq(ptc_file_feature(pipe, bit, &y, NULL),
			     ptc_file_feature(file, bit, &x, NULL), "bit %u", bit);
		if (!ptc_file_feature(file, bit, &x, NULL))
			continue;
		cr_assert_eq(ptc_cur_left(&x), ptc_cur_left(&y));
		cr_assert_eq(memcmp(x.pos, y.pos, ptc_cur_left(&x)), 0);
	}
	ptc_file_free(file);
	ptc_file_free(pipe);
	ptc_buf_release(&a);
	ptc_buf_release(&b);
	free(bytes);
	free(piped);
	pd_release(&p);
}

Test(pipe, trace_lies_in_line)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_err err;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_cur c;
	uint64_t pos = 0;
	uint8_t *bytes;
	struct pd p;

	build(&p);
	f = open_pipe(&p, &bytes);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0);
	cr_assert_eq(ix.nqueues, 1);
	c = ptc_chunk_bytes(f, &ix.queues[0].chunks[0]);
	cr_assert(ptc_cur_left(&c) == 40 && c.pos[1] == 0x82);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Adds TRACING_DATA with @n bytes behind the record. */
static void put_tracing(struct pd *p, uint32_t n)
{
	pd_raw(p, PTC_REC_HEADER_TRACING_DATA, 0, &n, sizeof(n));
	ptc_buf_zero(&p->data, n);
}

Test(pipe, tracing_data_are_a_feature_and_no_records)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	uint64_t pos = 0, off;
	uint32_t last = 0;
	uint8_t *bytes;
	struct pd p;

	build(&p);
	put_tracing(&p, 24);
	pd_raw(&p, 90, 0, NULL, 0);
	f = open_pipe(&p, &bytes);
	cr_assert(ptc_file_feature(f, PTC_FEAT_TRACING_DATA, &c, &off));
	cr_assert_eq(ptc_cur_left(&c), 24);
	cr_assert_eq(c.pos, bytes + off);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		last = rec.type;
	cr_assert_eq(last, 90);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(pipe, tracing_data_that_claim_more_than_there_is_are_refused)
{
	static const uint32_t sizes[] = { 1, 0x7fffffff, UINT32_MAX };
	struct pd p;
	uint8_t *bytes;
	size_t len, i;

	for (i = 0; i < 3; i++) {
		build(&p);
		pd_raw(&p, PTC_REC_HEADER_TRACING_DATA, 0, &sizes[i], 4);
		bytes = pd_finish_pipe(&p, &len);
		cr_assert_not_null(
			strstr(open_fails(bytes, len, PTC_E_FORMAT).msg, "TRACING_DATA"));
		free(bytes);
		pd_release(&p);
	}
	build(&p);
	pd_raw(&p, PTC_REC_HEADER_TRACING_DATA, 0, NULL, 0);
	bytes = pd_finish_pipe(&p, &len);
	(void)open_fails(bytes, len, PTC_E_FORMAT);
	free(bytes);
	pd_release(&p);
}

Test(pipe, text_behind_the_last_record_is_refused_as_that)
{
	static const char text[] = "[ perf record: Woken up 1 times to write data ]\n"
				   "[ perf record: Captured and wrote 0.012 MB (null) ]\n";
	struct pd p;
	uint8_t *bytes, *more;
	size_t len;

	build(&p);
	bytes = pd_finish_pipe(&p, &len);
	more = malloc(len + strlen(text));
	cr_assert_not_null(more);
	memcpy(more, bytes, len);
	memcpy(more + len, text, sizeof(text) - 1);
	cr_assert_not_null(strstr(open_fails(more, len + strlen(text), PTC_E_FORMAT).msg,
				  "there is text, which a program wrote to the same pipe: "
				  "'[ perf record: Woken up"));
	free(more);
	free(bytes);
	pd_release(&p);
}

Test(pipe, build_ids_come_one_a_record)
{
	struct ptc_build_id_entry e = { .misc = 2, .pid = -1, .id = { .len = 20 } };
	static const char *const names[] = { "/bin/one", "/bin/two" };
	uint8_t *bytes;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t off;
	struct pd p;
	size_t i;

	build(&p);
	for (i = 0; i < 2; i++) {
		e.filename = names[i];
		e.id.bytes[0] = (uint8_t)i;
		ptc_feature_put_build_id(&p.data, &e);
		pd_raw(&p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	}
	f = open_pipe(&p, &bytes);
	cr_assert(ptc_file_feature(f, PTC_FEAT_BUILD_ID, &c, &off));
	cr_assert_eq(ptc_le32(bytes + off), PTC_REC_HEADER_BUILD_ID);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_build_id(&c, off, &e, &err), 1, "%s", err.msg);
		cr_assert_str_eq(e.filename, names[i]);
		cr_assert_eq(e.id.bytes[0], i);
	}
	cr_assert_eq(ptc_feature_next_build_id(&c, off, &e, &err), 0);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Adds an EVENT_UPDATE of @type for @id. */
static void put_update(struct pd *p, uint64_t type, uint64_t id, const void *bytes, size_t len)
{
	uint8_t body[64] = { 0 };

	memcpy(body, &type, 8);
	memcpy(body + 8, &id, 8);
	memcpy(body + 16, bytes, len);
	pd_raw(p, PTC_REC_EVENT_UPDATE, 0, body, 16 + len);
}

Test(pipe, updates_tell_of_events_by_their_ids)
{
	const double scale = 0.5;
	struct ptc_file *f;
	uint8_t *bytes;
	struct pd p;

	build(&p);
	put_update(&p, 2, PD_ID_DUMMY, "dummy:u", 8);
	put_update(&p, 0, PD_ID_DUMMY, "Joules", 7);
	put_update(&p, 1, PD_ID_DUMMY, &scale, 8);
	put_update(&p, 2, 12345, "nobody", 7);
	put_update(&p, 77, PD_ID_PT, "from the future", 16);
	put_update(&p, 2, PD_ID_PT, "unended!", 8);
	f = open_pipe(&p, &bytes);
	cr_assert_str_eq(ptc_file_attr(f, 1)->name, "dummy:u");
	cr_assert_str_eq(ptc_file_attr(f, 1)->unit, "Joules");
	cr_assert_eq(ptc_file_attr(f, 1)->scale, 0.5);
	cr_assert_null(ptc_file_attr(f, 0)->name);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(pipe, an_empty_feature_is_the_end_mark_and_the_last_of_a_bit_counts)
{
	static const uint8_t empty[8] = { PTC_FEAT_CPU_DOMAIN_INFO };
	static const uint8_t host[16] = { PTC_FEAT_HOSTNAME, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'x' };
	static const uint8_t far[16] = { 0, 1 }; /* bit 256 */
	struct ptc_file *f;
	struct ptc_cur c;
	const char *s;
	uint8_t *bytes;
	struct pd p;

	build(&p);
	pd_raw(&p, PTC_REC_HEADER_FEATURE, 0, empty, 8);
	pd_raw(&p, PTC_REC_HEADER_FEATURE, 0, far, 16);
	pd_raw(&p, PTC_REC_HEADER_FEATURE, 0, host, 16);
	f = open_pipe(&p, &bytes);
	cr_assert(!ptc_file_feature(f, PTC_FEAT_CPU_DOMAIN_INFO, &c, NULL));
	cr_assert(ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL) &&
		  ptc_feature_get_string(&c, &s) && !strcmp(s, "x"));
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(pipe, attrs_of_every_size_are_read_and_others_refused)
{
	uint32_t size;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	for (size = PERF_ATTR_SIZE_VER0; size <= PERF_ATTR_SIZE_VER9 + 16; size += 8) {
		struct ptc_file *f;

		build(&p);
		p.attr_size = size;
		f = open_pipe(&p, &bytes);
		cr_assert_eq(ptc_file_attr(f, 0)->attr.size, size);
		cr_assert_eq(ptc_file_attr(f, 1)->ids[0], PD_ID_DUMMY);
		ptc_file_free(f);
		free(bytes);
		pd_release(&p);
	}
	build(&p);
	bytes = pd_finish_pipe(&p, &len);
	for (size = 0; size < 4; size++) {
		static const uint32_t wrong[] = { 1, 63, 128 + 9, UINT32_MAX };
		size_t i;

		for (i = 0; i < 4; i++)
			bytes[16 + 8 + 4 + i] = (uint8_t)(wrong[size] >> 8 * i);
		(void)open_fails(bytes, len, PTC_E_FORMAT);
	}
	free(bytes);
	pd_release(&p);
}

/* Returns true if a record of @bytes ends at @cut, so that a cut there is no damage. */
static bool is_end(const uint8_t *bytes, size_t len, size_t cut)
{
	size_t off = 16;

	while (off < len && off < cut) {
		const size_t size = ptc_le16(bytes + off + 6);
		const bool aux = ptc_le32(bytes + off) == PTC_REC_AUXTRACE;

		off += size + (aux ? (size_t)ptc_le64(bytes + off + 8) : 0);
	}
	return off == cut;
}

Test(pipe, a_cut_is_seen_at_every_length_and_what_is_there_can_be_read)
{
	struct ptc_buf all = PTC_BUF_INIT, some = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	uint8_t *whole;
	size_t len, cut;
	struct pd p;

	build(&p);
	f = open_pipe(&p, &whole);
	cr_assert_eq(pk_records(f, &all, &err), 0);
	ptc_file_free(f);
	free(whole);
	whole = pd_finish_pipe(&p, &len);
	for (cut = 0; cut < len; cut++) {
		uint8_t *bytes = pd_exact(whole, cut);

		if (cut >= 16 && is_end(whole, len, cut))
			ptc_file_free(open_ok(bytes, cut));
		else
			(void)open_fails(bytes, cut, PTC_E_FORMAT);
		if (cut >= 16) {
			struct ptc_file_part part;

			cr_assert_eq(ptc_file_open_damaged_bytes(bytes, cut, "test", &f, &err), 0);
			cr_assert_eq(!ptc_file_damage(f), is_end(whole, len, cut));
			cr_assert_eq(pk_records(f, &some, &err), 0);
			cr_assert(pk_begins(&all, &some));
			ptc_file_part(f, 0, &part);
			cr_assert(is_end(whole, len, (size_t)(part.data_off + part.data_size)));
			ptc_file_free(f);
		}
		free(bytes);
	}
	free(whole);
	ptc_buf_release(&all);
	ptc_buf_release(&some);
	pd_release(&p);
}

static void list_damaged(const uint8_t *bytes, size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_file *f;
	struct ptc_err err;

	if (!ptc_file_open_bytes(bytes, len, "test", &f, &err)) {
		(void)pk_records(f, &b, &err);
		ptc_file_free(f);
	}
	if (!ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err)) {
		cr_assert_eq(pk_records(f, &b, &err), 0, "%s", err.msg);
		ptc_file_free(f);
	}
	ptc_buf_release(&b);
}

Test(pipe, every_damaged_byte_is_survived)
{
	uint8_t *whole;
	size_t len;
	struct pd p;

	build(&p);
	put_update(&p, 2, PD_ID_DUMMY, "dummy:u", 8);
	put_tracing(&p, 16);
	whole = pd_finish_pipe(&p, &len);
	pd_each_damage(whole, len, list_damaged);
	free(whole);
	pd_release(&p);
}

Test(pipe, more_events_than_the_limit_are_refused)
{
	struct perf_event_attr a = { .size = PERF_ATTR_SIZE_VER0 };
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int i;

	ptc_buf_put(&b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(&b, 16);
	for (i = 0; i <= PTC_LIMIT_ATTRS; i++) {
		const size_t start = ptc_rec_begin(&b, PTC_REC_HEADER_ATTR, 0);

		ptc_buf_put(&b, &a, PERF_ATTR_SIZE_VER0);
		ptc_rec_end(&b, start);
	}
	(void)open_fails(b.bytes, b.len, PTC_E_LIMIT);
	ptc_buf_release(&b);
}

/* Returns a child process that writes @bytes into @fd. */
static pid_t feed(int fd, const uint8_t *bytes, size_t len)
{
	const pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		while (len) {
			const ssize_t n = write(fd, bytes, len < 5 ? len : 5);

			if (n <= 0)
				_exit(1);
			bytes += n;
			len -= (size_t)n;
		}
		_exit(0);
	}
	(void)close(fd);
	return pid;
}

static void check_fed(const char *path, pid_t pid, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	int status;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_file_size(f), len);
	cr_assert_eq(ptc_file_nattrs(f), 2);
	ptc_file_free(f);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(pipe, it_is_read_from_standard_input_and_from_a_fifo)
{
	char path[] = "/tmp/ptcap-test-XXXXXX";
	uint8_t *bytes;
	size_t len, form;
	int fds[2];
	struct pd p;
	pid_t pid;

	build(&p);
	for (form = 0; form < 2; form++) { /* a regular file through a pipe works too */
		bytes = form ? pd_finish(&p, &len) : pd_finish_pipe(&p, &len);
		cr_assert_eq(pipe(fds), 0);
		pid = feed(fds[1], bytes, len);
		cr_assert_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
		check_fed("-", pid, len);
		free(bytes);
	}
	bytes = pd_finish_pipe(&p, &len);
	cr_assert_not_null(mkdtemp(path));
	cr_assert_eq(rmdir(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	pid = fork();
	if (!pid) {
		FILE *to = fopen(path, "wb"); /* blocks until the FIFO is opened for reading */

		_exit(!to || fwrite(bytes, 1, len, to) != len || fclose(to));
	}
	check_fed(path, pid, len);
	cr_assert_eq(unlink(path), 0);
	free(bytes);
	pd_release(&p);
}

Test(pipe, what_is_no_recording_is_not_read_to_its_end, .timeout = 600)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], "no recording at all", 19), 19);
	cr_assert_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	/* fds[1] stays open: a reader that waits for the end of the pipe would never return. */
	cr_assert_eq(ptc_file_open("-", &f, &err), PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "wrong magic"), "%s", err.msg);
	(void)close(fds[1]);
	cr_assert_null(f);
}
