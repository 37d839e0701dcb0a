/* SPDX-License-Identifier: MIT */
/* Description: a sample that the writer appends is read again. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "ptcap/file.h"
#include "ptcap/writer.h"

static char path[] = "/tmp/ptcap-sample-XXXXXX";

static void create_file(void)
{
	const int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	(void)close(fd);
}

static void remove_file(void)
{
	char old[sizeof(path) + 4];

	(void)unlink(path);
	(void)snprintf(old, sizeof(old), "%s.old", path);
	(void)unlink(old);
}

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_HARDWARE,
	.size = PERF_ATTR_SIZE_VER7,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
	.sample_regs_user = 3,
	.sample_id_all = 1,
};
static const uint64_t id = 7;

static struct ptc_writer *start(unsigned int level)
{
	struct ptc_writer *w = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_writer_new(path, &w, &err), 0);
	cr_assert(!level || !ptc_writer_compress(w, level, &err));
	cr_assert_eq(ptc_writer_attr(w, &attr, "cycles", &id, 1, &err), 0);
	return w;
}

static void check_next(const struct ptc_file *f, uint64_t *pos, uint64_t ip, struct ptc_cur chain)
{
	struct ptc_sample s;
	struct ptc_rec rec;
	struct ptc_err err;

	cr_assert_eq(ptc_file_next(f, pos, &rec, &err), 1, "%s", err.msg);
	cr_assert_eq(rec.type, PERF_RECORD_SAMPLE);
	cr_assert_eq(rec.misc, PERF_RECORD_MISC_USER);
	cr_assert_eq(ptc_sample_parse(&rec, &attr, &s, &err), 0);
	cr_assert(s.ip == ip && s.id.id == id && s.id.tid == 12);
	cr_assert_eq(ptc_cur_left(&s.callchain), ptc_cur_left(&chain));
	cr_assert_arr_eq(s.callchain.pos, chain.pos, ptc_cur_left(&chain));
}

static void write_and_read(unsigned int level)
{
	static const uint64_t words[] = { PERF_CONTEXT_USER, 0x1234, 0x5678 };
	struct ptc_sample s = { .id = { .pid = 11, .tid = 12, .id = id } };
	struct ptc_writer *w = start(level);
	struct ptc_file *f;
	struct ptc_err err;
	uint64_t pos = 0;

	s.callchain = ptc_cur_init((const uint8_t *)words, sizeof(words));
	for (s.ip = 1; s.ip <= 2; s.ip++)
		cr_assert_eq(ptc_writer_sample(w, &attr, PERF_RECORD_MISC_USER, &s, &err), 0);
	cr_assert_eq(ptc_writer_commit(w, &err), 0);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0);
	check_next(f, &pos, 1, s.callchain);
	check_next(f, &pos, 2, s.callchain);
	ptc_file_free(f);
}

Test(writer_sample, samples_come_back, .init = create_file, .fini = remove_file)
{
	write_and_read(0);
	write_and_read(1);
}

/* After the refusal the writer still works. */
Test(writer_sample, a_sample_that_does_not_fit_is_refused, .init = create_file, .fini = remove_file)
{
	struct ptc_sample s = { .ip = 1 };
	struct ptc_writer *w = start(0);
	uint8_t *large = calloc(1, PTC_REC_MAX);
	struct ptc_err err;

	cr_assert_not_null(large);
	s.regs_user.abi = PERF_SAMPLE_REGS_ABI_64;
	s.regs_user.values = ptc_cur_init(large, 8); /* the mask has two registers */
	cr_assert_eq(ptc_writer_sample(w, &attr, 0, &s, &err), PTC_E_USAGE);
	s.regs_user.values = ptc_cur_init(large, 16);
	s.callchain = ptc_cur_init(large, PTC_REC_MAX);
	cr_assert_eq(ptc_writer_sample(w, &attr, 0, &s, &err), PTC_E_USAGE);
	s.callchain = ptc_cur_init(large, 8);
	cr_assert_eq(ptc_writer_sample(w, &attr, 0, &s, &err), 0);
	ptc_writer_free(w);
	free(large);
}
