/* SPDX-License-Identifier: MIT */
/*
 * One pass of framing and indexing over a recording, against the minimal cost: a loop over the same
 * mapping that only jumps from header to header by their sizes. Page faults cost more than either,
 * so they are measured separately ("first passes", each over its own mapping).
 *
 * File A is 2 GB, nearly all of it AUX trace. File B is 256 MB of small records. The two loops
 * alternate. Prints medians, their ratio, and memory in addition to the mapping. For comparison:
 * cat, and perf on a small B.
 *
 *	bench_file [FOLDER [PAIRS]]		(default: /dev/shm 5)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/reader/time_order.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sideband.h"
#include "auxtrace/writer/writer.h"

enum { MAX_PAIRS = 64, PIECE = 1 << 20, BATCH = 1024 };

static const uint64_t SIZE_A = 2ull << 30, SIZE_B = 256ull << 20, SIZE_SMALL = 4ull << 20;
static const uint64_t SAMPLE_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				    PERF_SAMPLE_IDENTIFIER;

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void must(int rc, const struct ptc_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_file: %s\n", err->msg);
	exit(1);
}

/* --- the files --- */

/* Append records of 48 to 64 bytes: switches, comms. */
static void put_records(struct ptc_buf *b, uint64_t time)
{
	struct ptc_sb sb = { .type = PERF_RECORD_SWITCH };
	unsigned int i;

	sb.id.has = SAMPLE_TYPE;
	sb.id.id = 1;
	for (i = 0; i < BATCH; i++) {
		sb.type = i % 4 ? PERF_RECORD_SWITCH : PERF_RECORD_COMM;
		sb.u.comm.comm = "bench";
		sb.id.time = time + i;
		ptc_sb_put(b, &sb, SAMPLE_TYPE);
	}
}

/* @aux: bytes of trace after each batch of records. */
static void make(const char *path, uint64_t size, size_t aux)
{
	static const uint8_t trace[PIECE];
	static const uint8_t round_mark[8] = { PTC_REC_FINISHED_ROUND, [6] = 8 };
	const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					      .config = PERF_COUNT_SW_DUMMY,
					      .sample_type = SAMPLE_TYPE,
					      .sample_id_all = 1 };
	const uint64_t id = 1;
	struct ptc_auxtrace a = { .tid = -1 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_writer *w;
	struct ptc_err err;
	uint64_t time = 1;

	must(ptc_writer_new(path, &w, &err), &err);
	must(ptc_writer_attr(w, &attr, "dummy", &id, 1, &err), &err);
	while (ptc_writer_data_size(w) < size) {
		struct ptc_seg seg[2] = { { NULL, 0 }, { NULL, 0 } };
		size_t left;

		ptc_buf_reset(&b);
		put_records(&b, time);
		time += BATCH;
		seg[0] = (struct ptc_seg){ b.bytes, b.len };
		must(ptc_writer_records(w, seg, &err), &err);
		must(ptc_writer_plain(w, round_mark, sizeof(round_mark), &err), &err);
		for (left = aux; left; left -= PIECE) {
			seg[0] = (struct ptc_seg){ trace, PIECE };
			must(ptc_writer_auxtrace(w, &a, seg, &err), &err);
			a.offset += PIECE;
		}
	}
	ptc_buf_release(&b);
	must(ptc_writer_commit(w, &err), &err);
}

/* --- the passes --- */

/* Minimal loop. Returns the number of records. */
static uint64_t hop(struct ptc_cur data, double *ret_s)
{
	const double t = now();
	const uint8_t *p;
	uint64_t n = 0;

	for (p = data.pos; p < data.end; n++) {
		struct perf_event_header h;
		uint64_t more = 0;

		memcpy(&h, p, sizeof(h));
		if (h.type == PTC_REC_AUXTRACE)
			memcpy(&more, p + sizeof(h), sizeof(more));
		p += h.size + more;
	}
	*ret_s = now() - t;
	return n;
}

/* Framing and indexing. Returns the number of records. */
static uint64_t frame(const struct ptc_file *f, double *ret_s)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_rec recs[64];
	struct ptc_err err;
	uint64_t pos = 0, count = 0;
	const double t = now();
	int n, i;

	while ((n = ptc_file_next_batch(f, &pos, recs, 64, &err)) > 0) {
		count += (uint64_t)n;
		for (i = 0; i < n; i++)
			if (recs[i].type == PTC_REC_AUXTRACE)
				must(ptc_index_add(&ix, f, &recs[i], &err), &err);
	}
	must(n, &err);
	ptc_index_sort(&ix);
	*ret_s = now() - t;
	ptc_index_release(&ix);
	return count;
}

/* Iteration in time order. Returns the number of records. */
static uint64_t order(const struct ptc_file *f, double *ret_s)
{
	const double t = now();
	struct ptc_order *o;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t time, n = 0;
	int rc;

	must(ptc_order_new(f, NULL, &o, &err), &err);
	while ((rc = ptc_order_next(o, &rec, &time, &err)) > 0)
		n++;
	must(rc, &err);
	ptc_order_free(o);
	*ret_s = now() - t;
	return n;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static long anonymous_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			kib = strtol(line + 8, NULL, 10);
	if (f)
		(void)fclose(f);
	return kib;
}

/* Returns the seconds of the first pass over a new mapping; @bare: with the minimal loop. */
static double first_pass(const char *path, bool bare)
{
	struct ptc_cur data;
	struct ptc_file *f;
	struct ptc_err err;
	double s;

	must(ptc_file_open(path, &f, &err), &err);
	if (!ptc_file_bytes(f, ptc_file_data_off(f), ptc_file_data_size(f), &data))
		exit(1);
	(void)(bare ? hop(data, &s) : frame(f, &s));
	ptc_file_free(f);
	return s;
}

static void compare(const char *name, const char *path, size_t pairs)
{
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], first[MAX_PAIRS], mid;
	double sorted[MAX_PAIRS], by_time[MAX_PAIRS];
	uint64_t n = 0, bare = 0;
	struct ptc_cur data;
	struct ptc_file *f;
	struct ptc_err err;
	double ignored;
	size_t i;

	must(ptc_file_open(path, &f, &err), &err);
	if (!ptc_file_bytes(f, ptc_file_data_off(f), ptc_file_data_size(f), &data))
		exit(1);
	(void)hop(data, &ignored); /* make sure that both find the file mapped */
	for (i = 0; i < pairs; i++) {
		bare = hop(data, &a[i]);
		n = frame(f, &b[i]);
		ratio[i] = b[i] / a[i];
		if (order(f, &sorted[i]) != n)
			exit(1);
		by_time[i] = sorted[i] / b[i];
	}
	ptc_file_free(f);
	if (n != bare) {
		fprintf(stderr, "bench_file: %" PRIu64 " records, the bare loop %" PRIu64 "\n", n,
			bare);
		exit(1);
	}
	for (i = 0; i < pairs; i++)
		first[i] = first_pass(path, false) / first_pass(path, true);
	mid = median(ratio, pairs);
	printf("%s  %5zu MB, %9" PRIu64 " records: hop %9.3f ms, ours %9.3f ms, ratio %.2f "
	       "(%.2f to %.2f); of first passes %.2f; %ld KiB beyond the mapping\n",
	       name, ptc_cur_left(&data) >> 20, n, median(a, pairs) * 1e3, median(b, pairs) * 1e3,
	       mid, ratio[0], ratio[pairs - 1], median(first, pairs), anonymous_kib());
	printf("   %-28s %9.3f ms, %.2f times ours\n", "in the order of their times",
	       median(sorted, pairs) * 1e3, median(by_time, pairs));
}

static void beside(const char *label, const char *path, char *const *argv)
{
	posix_spawn_file_actions_t fa;
	struct stat st = { 0 };
	double t = now();
	int status = 0, rc;
	pid_t pid;

	(void)posix_spawn_file_actions_init(&fa);
	(void)posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	if (rc || waitpid(pid, &status, 0) != pid || status || stat(path, &st)) {
		printf("   %-28s did not work\n", label);
		return;
	}
	t = now() - t;
	printf("   %-28s %9.1f ms, %8.1f MB/s\n", label, t * 1e3, (double)st.st_size / 1e6 / t);
}

#define ARGV(...)                                                                                  \
	(char *const[])                                                                            \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define S(s) ((char *)(uintptr_t)(s))

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/dev/shm";
	const size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
	char dir[256], a[300], b[300], small[300];

	(void)snprintf(dir, sizeof(dir), "%s/ptcap-bench.XXXXXX", folder);
	if (!pairs || pairs > MAX_PAIRS || !mkdtemp(dir)) {
		fprintf(stderr, "usage: bench_file [FOLDER [PAIRS]]\n");
		return 2;
	}
	(void)snprintf(a, sizeof(a), "%s/a", dir);
	(void)snprintf(b, sizeof(b), "%s/b", dir);
	(void)snprintf(small, sizeof(small), "%s/small", dir);
	make(a, SIZE_A, (size_t)8 * PIECE);
	compare("A", a, pairs);
	beside("cat A", a, ARGV(S("cat"), a));
	(void)unlink(a);
	make(b, SIZE_B, 0);
	compare("B", b, pairs);
	beside("cat B", b, ARGV(S("cat"), b));
	(void)unlink(b);
	make(small, SIZE_SMALL, 0);
	beside("perf report -D (a small B)", small,
	       ARGV(S("perf"), S("report"), S("-D"), S("-i"), small));
	beside("perf script (a small B)", small,
	       ARGV(S("perf"), S("script"), S("--no-itrace"), S("--show-switch-events"), S("-i"),
		    small));
	(void)unlink(small);
	(void)rmdir(dir);
	return 0;
}
