/* SPDX-License-Identifier: MIT */
/*
 * Description: options that are zero except for their size work, or are refused with a message.
 *
 * Each set of options is tested in a process of its own: a call of a NULL callback, or a missing
 * list, kills that process. The recording is then read with zero options, too.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptcap/capture.h"
#include "ptcap/decode.h"
#include "ptcap/file.h"
#include "ptcap/writer.h"

enum { WORKED = 10, REFUSED = 11, FAILED = 12 };

static char output[64];
static char program[] = "/bin/true";
static char *command[] = { program, NULL };
static char *nameless[] = { NULL };
static int bad;

static int record(const struct ptc_record_opts *o)
{
	struct ptc_record_result r;
	struct ptc_err err = { .code = PTC_OK };
	const int rc = ptc_record(o, &r, &err);

	if (rc < 0)
		fprintf(stderr, "  %s\n", err.msg);
	return rc == PTC_E_USAGE && err.msg[0] ? REFUSED : rc ? FAILED : WORKED;
}

static void no_note(void *ctx, const struct ptc_lbr_note *note)
{
	(void)ctx;
	(void)note;
}

static int no_items(void *ctx, const struct ptc_item *items, size_t n)
{
	(void)items;
	*(size_t *)ctx += n;
	return 0;
}

static int decode(const struct ptc_decode_opts *o)
{
	size_t n = 0;
	const struct ptc_sink sink = { no_items, &n };
	struct ptc_decode *d;
	struct ptc_err err = { .code = PTC_OK };
	int rc = ptc_decode_open(output, o, &d, &err);

	if (!rc) {
		rc = ptc_decode_run(d, &sink, &err);
		ptc_decode_free(d);
	}
	if (rc < 0)
		fprintf(stderr, "  %s\n", err.msg);
	return rc == PTC_E_USAGE && err.msg[0] ? REFUSED : rc || !n ? FAILED : WORKED;
}

static int write_as(const struct ptc_writer_opts *o)
{
	struct ptc_writer *w = NULL;
	struct ptc_err err = { .code = PTC_OK };
	const int rc = ptc_writer_new_as(output, o, &w, &err);

	if (!rc)
		ptc_writer_free(w);
	return rc == PTC_E_USAGE && err.msg[0] ? REFUSED : rc ? FAILED : WORKED;
}

static int order(const struct ptc_order_opts *o)
{
	struct ptc_file *f;
	struct ptc_order *order = NULL;
	struct ptc_err err = { .code = PTC_OK };
	int rc = ptc_file_open(output, &f, &err);

	if (rc)
		return FAILED;
	rc = ptc_order_new(f, o, &order, &err);
	ptc_order_free(order);
	ptc_file_free(f);
	return rc == PTC_E_USAGE && err.msg[0] ? REFUSED : rc ? FAILED : WORKED;
}

/* Checks the return value of @call, which runs in a process of its own. */
#define EXPECT(what, want, call)                                                                   \
	do {                                                                                       \
		pid_t pid_ = fork();                                                               \
		int st_ = 0;                                                                       \
		if (!pid_)                                                                         \
			_exit(call);                                                               \
		if (pid_ < 0 || waitpid(pid_, &st_, 0) != pid_ || !WIFEXITED(st_) ||               \
		    WEXITSTATUS(st_) != (want)) {                                                  \
			fprintf(stderr, "%s: status 0x%x, %d is wanted\n", what, st_, want);       \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)

#define ZERO                                                                                       \
	.size = sizeof(struct ptc_record_opts), .output.path = output, .target.argv = command,     \
	.source.kind = PTC_SOURCE_STEP

static void test_refused(void)
{
	const struct {
		const char *what;
		struct ptc_record_opts o;
	} cases[] = {
		{ "no size", { .output.path = output, .target.argv = command } },
		{ "no target", { .size = sizeof(struct ptc_record_opts), .output.path = output } },
		{ "no output", { .size = sizeof(struct ptc_record_opts), .target.argv = command } },
		{ "no name",
		  { .size = sizeof(struct ptc_record_opts),
		    .output.path = output,
		    .target.argv = nameless } },
		{ "no pids",
		  { .size = sizeof(struct ptc_record_opts),
		    .output.path = output,
		    .target.npids = 1 } },
		{ "no tids",
		  { .size = sizeof(struct ptc_record_opts),
		    .output.path = output,
		    .target.ntids = 1 } },
		{ "no filters", { ZERO, .source.nfilters = 1 } },
		{ "no places", { ZERO, .snapshot.enabled = true, .snapshot.nat = 1 } },
		{ "no on_wake", { ZERO, .callbacks.wake_fd = 1 } },
		{ "no source", { ZERO, .lbr.spoil.mode = (enum ptc_spoil)99 } },
		{ "no rate", { ZERO, .lbr.branches = 8, .lbr.spoil.mode = PTC_SPOIL_TARGET } },
		{ "no period", { ZERO, .source.psb_period = 3 } },
		{ "no level", { ZERO, .output.compression = 99 } },
		{ "no truth", { ZERO, .callbacks.lbr_truth = no_note } },
		{ "a series of nothing", { ZERO, .snapshot.series = true } },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		EXPECT(cases[i].what, REFUSED, record(&cases[i].o));
	EXPECT("NULL", REFUSED, record(NULL));
}

static void test_zero(void)
{
	const struct ptc_record_opts zero = { ZERO },
				     snapshots = { ZERO, .snapshot.enabled = true,
						   .range.max_steps = 500 },
				     limit = { ZERO, .range.max_steps = 100 },
				     lbr = { ZERO, .lbr.branches = 8, .lbr.period = 7,
					     .range.max_steps = 500 };
	const struct ptc_decode_opts none = { .size = sizeof(none) };
	const struct ptc_decode_opts unsized = { .insns = true };
	const struct ptc_code_opts no_size = { .look_only = true };
	const struct ptc_decode_opts code = { .size = sizeof(code), .code = &no_size };
	const struct ptc_writer_opts w = { .size = sizeof(w) }, bad_w = { .pipe = true };
	const struct ptc_order_opts q = { .size = sizeof(q) }, bad_q = { .max = 1 };
	int null[2];

	/*
	 * Standard input is readable here. A zeroed option must not make the library read or poll
	 * it.
	 */
	if (pipe(null) || dup2(null[0], 0) || close(null[1]))
		exit(1);
	EXPECT("snapshots", WORKED, record(&snapshots));
	EXPECT("a limit", WORKED, record(&limit));
	EXPECT("branch stacks", WORKED, record(&lbr));
	EXPECT("zeros", WORKED, record(&zero));
	EXPECT("decode", WORKED, decode(&none));
	EXPECT("decode NULL", WORKED, decode(NULL));
	EXPECT("decode without size", REFUSED, decode(&unsized));
	EXPECT("code without size", REFUSED, decode(&code));
	EXPECT("order", WORKED, order(&q));
	EXPECT("order NULL", WORKED, order(NULL));
	EXPECT("order without size", REFUSED, order(&bad_q));
	EXPECT("writer", WORKED, write_as(&w));
	EXPECT("writer NULL", WORKED, write_as(NULL));
	EXPECT("writer without size", REFUSED, write_as(&bad_w));
}

int main(void)
{
	char folder[] = "/tmp/ptcap-options.XXXXXX";

	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(output, sizeof(output), "%s/perf.data", folder);
	test_refused();
	test_zero();
	(void)unlink(output);
	(void)rmdir(folder);
	return bad ? 1 : 0;
}
