/* SPDX-License-Identifier: MIT */
/* A file in each format that `ptcap sum` adds, and the sum of files in memory. */
#ifndef PTC_TESTS_UNIT_CLI_SUM_CASE_H
#define PTC_TESTS_UNIT_CLI_SUM_CASE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/sum.h"

#define EDGES_HEAD                                                                                 \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"edges\",\"times\":7,"          \
	"\"different\":2,\"gaps\":1}\n"
#define EDGES                                                                                      \
	EDGES_HEAD "{\"type\":\"count\",\"times\":5,\"kind\":\"jcc\",\"from\":\"0x401020\","       \
		   "\"from_function\":\"fall\",\"from_function_offset\":16,"                       \
		   "\"from_file\":\"/bin/x\",\"from_file_offset\":\"0x1020\","                     \
		   "\"from_build_id\":\"aa\",\"to\":\"0x401000\",\"to_file\":\"/bin/x\","          \
		   "\"to_file_offset\":\"0x1000\",\"to_build_id\":\"aa\"}\n"                       \
		   "{\"type\":\"count\",\"times\":2,\"kind\":\"ret\",\"from\":\"0x7f0010\","       \
		   "\"to\":\"0x0\"}\n"                                                             \
		   "{\"type\":\"missing\",\"file\":\"/bin/y\",\"gaps\":3,\"bytes\":12,"            \
		   "\"branches\":4,\"hint\":\"h\"}\n"
#define LINES                                                                                      \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"lines\",\"times\":3,"          \
	"\"different\":1,\"gaps\":0,\"blocks\":4,\"lineless\":1}\n"                                \
	"{\"type\":\"count\",\"times\":3,\"file\":\"a.c\",\"line\":7}\n"
#define COVERAGE                                                                                   \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"coverage\",\"files\":1,"       \
	"\"lines\":4,\"ran\":2,\"blocks\":9,\"lineless\":0,\"gaps\":0}\n"                          \
	"{\"type\":\"file\",\"file\":\"a.c\",\"lines\":4,\"ran\":2,\"not_run\":[[4,6]],"           \
	"\"code\":[[3,4],[6,7]]}\n"
#define STATS                                                                                      \
	"{\"schema\":\"ptcap-decode-stats\",\"version\":1,\"trace_bytes\":10,"                     \
	"\"instructions\":20,\"transfers\":30,\"first_ns\":5,\"last_ns\":9,\"missing_files\":1,"   \
	"\"kinds\":{\"start\":1,\"jcc\":29},\"gaps\":{\"lost\":{\"count\":2,\"bytes\":3}},"        \
	"\"engines\":{\"fast\":{\"pieces\":1,\"bytes\":6},\"libipt\":{\"pieces\":2,"               \
	"\"bytes\":4,\"why\":{\"an end\":2}}}}\n"
#define REPORT                                                                                     \
	"{\"schema\":\"ptcap-report\",\"version\":1,\"by\":\"function\",\"axis\":\"insns\","       \
	"\"sort\":\"self\",\"instructions\":12,\"in_functions\":10,\"time\":null,\"calls\":3,"     \
	"\"open\":1,\"functions\":1,\"threads\":1,\"gaps\":0}\n"                                   \
	"{\"type\":\"function\",\"name\":\"fib\",\"file\":\"/bin/x\",\"offset\":\"0x1139\","       \
	"\"inlined\":false,\"calls\":3,\"open\":1,\"insns\":{\"self\":10,\"total\":10,"            \
	"\"known\":2,\"mean\":4,\"p99\":6,\"max\":6,\"durations\":9},\"time\":null,"               \
	"\"build_id\":\"aa\"}\n"
#define CRASH                                                                                      \
	"{\"schema\":\"ptcap-crash\",\"version\":1,\"signal\":\"SIGSEGV\",\"pid\":1,"              \
	"\"reason\":\"bad-jump\",\"signature\":\"s1\",\"signature_frames\":[\"f\",\"main\"]}\n"
#define LCOV                                                                                       \
	"TN:\nSF:a.c\nDA:3,2\nDA:4,0\nLF:2\nLH:1\nend_of_record\n"                                 \
	"TN:\nSF:b.c\nDA:1,0\nLF:1\nLH:0\nend_of_record\n"
#define FOLDED "x-1;main 5\nx-1;main;f g 7\n"
#define CALLGRIND                                                                                  \
	"# callgrind format\nversion: 1\ncreator: ptcap\ncmd: ptcap record -- x\n"                 \
	"positions: line\nevents: Ir\nsummary: 9\n\n"                                              \
	"ob=(1) /bin/x\nfl=(1) a.c\nfn=(1) main\n3 4\ncob=(1)\ncfi=(1)\ncfn=(2) work\n"            \
	"calls=2 8\n4 5\n\nob=(1)\nfl=(1)\nfn=(2)\n8 5\n\ntotals: 9\n"
#define BOLT	"B 1000 1020 5 0\nB X:0 1000 1 0\nF 1000 1008 3\n"
#define PROFGEN "1\n10-18:3\n2\n18->10:2\n18->20:1\n"
#define AFDO	"1\n10-18:3\n1\n10:4\n1\n18->10:2\n"

static const struct sum_sample {
	const char *name, *text;
	/* A cut between two lines cannot be seen. */
	bool is_open;
} sum_samples[] = {
	{ "edges", EDGES, false }, { "lines", LINES, false },	  { "coverage", COVERAGE, false },
	{ "stats", STATS, false }, { "report", REPORT, false },	  { "crash", CRASH, false },
	{ "lcov", LCOV, true },	   { "folded", FOLDED, true },	  { "callgrind", CALLGRIND, false },
	{ "bolt", BOLT, true },	   { "profgen", PROFGEN, false }, { "afdo", AFDO, false },
};

enum { SUM_SAMPLES = sizeof(sum_samples) / sizeof(sum_samples[0]) };

/* Adds @len bytes at @text as the file @name. Returns an error code. */
static inline int sum_add(struct ptc_sum *s, const char *name, const char *text, size_t len,
			  struct ptc_err *err)
{
	const int fd = memfd_create("sum", MFD_CLOEXEC);
	int rc;

	cr_assert(fd >= 0 && write(fd, text, len) == (ssize_t)len && !lseek(fd, 0, SEEK_SET));
	rc = ptc_sum_add_file(s, fd, name, err);
	cr_assert(!close(fd));
	return rc;
}

/* Returns the printed sum, which the caller frees. */
static inline char *sum_printed(struct ptc_sum *s, bool text, uint64_t most)
{
	struct ptc_buf out = PTC_BUF_INIT;
	struct ptc_line *line = calloc(1, sizeof(*line));
	const struct ptc_sum_how how = { .text = text, .most = most, .line = line };

	cr_assert(line);
	line->into = &out;
	cr_assert(s->format->print(s->state, &how));
	ptc_line_flush(line);
	cr_assert(!line->failed);
	ptc_buf_u8(&out, 0);
	free(line);
	return (char *)out.bytes;
}

/* Returns the sum of two files, or of one (@two NULL). Caller frees it. */
static inline char *sum_of(const char *one, const char *two)
{
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };
	char *ret;

	cr_assert(!sum_add(&s, "one", one, strlen(one), &err), "%s", err.msg);
	cr_assert(!two || !sum_add(&s, "two", two, strlen(two), &err), "%s", err.msg);
	ret = sum_printed(&s, false, 0);
	ptc_sum_release(&s);
	return ret;
}

/* Checks that the sum of the files is @want. */
static inline void sum_is(const char *one, const char *two, const char *want)
{
	char *got = sum_of(one, two);

	cr_expect_str_eq(got, want);
	free(got);
}

/* Checks that the last of the files, @two or @one, is refused with these words. */
static inline void sum_fails(const char *one, const char *two, const char *words)
{
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };
	int rc = sum_add(&s, "one", one, strlen(one), &err);

	if (two) {
		cr_assert(!rc, "%s", err.msg);
		rc = sum_add(&s, "two", two, strlen(two), &err);
	}
	cr_expect(rc < 0, "no error: %s", words);
	cr_expect(strstr(err.msg, words), "'%s' lacks '%s'", err.msg, words);
	ptc_sum_release(&s);
}

#endif
