/* SPDX-License-Identifier: MIT */
/*
 * Cost of decoding, as ratios of CPU time to the unavoidable minimum. Programs are recorded with
 * the emulated source. For each of them:
 *
 *	engine	ptc_pass_run with a sink that hashes every branch, against a bare loop around
 *		libipt's block decoder with the same flags, image and warm section cache. Both
 *		count instructions, which must agree. One thread.
 *	text	ptcap decode -j 1 -F from,to against perf script --itrace=b -F ip,addr. Both print
 *		one line per branch, and the number of lines must agree.
 *	last	ptcap decode --last 1000, in ms, and relative to decoding all.
 *	calls	only with -c: ptcap decode --format=callgrind, folded and pprof, and ptcap convert
 *		--callchains, against perf inject --itrace=i. It makes the same samples as
 *		--callchains. CPU time for 1e8 branches is printed, too. One thread.
 *
 * The two of a pair alternate; medians are printed. Slow programs get fewer pairs: the whole run
 * takes about a quarter of an hour. Required: perf, gcc, python3, xz, QEMU, and 200 MB of /dev/shm.
 * Breakdown of the decoding time: pt_pkt_next over the trace (packets), the bare loop (flow), and
 * the rest.
 *
 *	bench_decode [-e|-t|-l|-c] [-f] [-p PAIRS] [-i FILE | COMMAND...]
 *						(all three; 5; cc1, python3 and xz)
 *	-f	with the second engine, which analyses the code again in each run
 */
#include "bench_decode.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ptcap/capture.h"

/* Seconds after which no further pair is started. */
static const double BUDGET = 60;

const char *bd_engine = "libipt"; /* of ptcap's runs */

void bd_die(const char *what)
{
	fprintf(stderr, "bench_decode: %s\n", what);
	exit(1);
}

void bd_must(int rc, const struct ptc_err *err)
{
	if (rc < 0)
		bd_die(err->msg);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bd_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double bd_wall_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

bool bd_goes_on(size_t done, size_t pairs, double begin)
{
	return done < pairs && (!done || bd_wall_now() - begin < BUDGET);
}

static void record(char *const *argv, const char *out)
{
	struct ptc_record_opts o = { .size = sizeof(o),
				     .output.path = out,
				     .target.argv = argv,
				     .source.kind = PTC_SOURCE_EMU,
				     .callbacks.wake_fd = -1 };
	struct ptc_record_result r;
	struct ptc_err err;

	bd_must(ptc_record(&o, &r, &err), &err);
	fprintf(stderr, "%s: %" PRIu64 " instructions, %.1f MB of trace\n", argv[0], r.insns,
		(double)r.aux_bytes / 1e6);
}

static void measure_file(const char *path, char which, size_t pairs)
{
	if (!which || which == 'e')
		bench_engine(path, pairs);
	if (!which || which == 't')
		bench_text(path, pairs);
	if (!which || which == 'l')
		bench_last(path, pairs);
	if (which == 'c')
		bench_profiles(path, pairs);
}

static void measure(char *const *argv, const char *out, char which, size_t pairs)
{
	record(argv, out);
	measure_file(out, which, pairs);
	(void)unlink(out);
}

/* Write input for a compiler: functions full of branches that call each other. */
static void write_source(const char *path)
{
	FILE *f = fopen(path, "we");
	int i;

	if (!f)
		bd_die("cannot write a source file");
	for (i = 0; i < 30; i++)
		(void)fprintf(f,
			      "int g%d;\nint f%d(int a, int b)\n{\n\tint i, s = 0;\n\tfor (i = 0; "
			      "i < a; i++) {\n\t\tif (i %% %d == b)\n\t\t\ts += i * g%d;\n\t\telse "
			      "switch (i & 7) {\n\t\tcase 0: s ^= b; break;\n\t\tcase 1: s -= a; "
			      "break;\n\t\tcase 3: s *= 7; break;\n\t\tdefault: s += f%d(i, b);\n"
			      "\t\t}\n\t}\n\tg%d = s;\n\treturn s;\n}\n",
			      i, i, i + 2, i, i ? i - 1 : 0, i);
	if (fclose(f))
		bd_die("cannot write a source file");
}

/* Returns the path of gcc's cc1; NULL: not found. */
static const char *cc1(void)
{
	static char path[4096];
	FILE *p = popen("gcc -print-prog-name=cc1", "re");
	bool good = p && fgets(path, sizeof(path), p) && path[0] == '/';

	if (p)
		(void)pclose(p);
	path[strcspn(path, "\n")] = '\0';
	return good ? path : NULL;
}

#define S(s) ((char *)(uintptr_t)(s))

static void measure_all(const char *dir, const char *out, char which, size_t pairs)
{
	static char *const python[] = { S("/usr/bin/python3"), S("-c"),
					S("print(sum(i * i for i in range(500000)))"), NULL };
	static char *const xz[] = { S("/usr/bin/xz"),	       S("-k"), S("-c"), S("-1"), S("-T1"),
				    S("/usr/bin/qemu-x86_64"), NULL };
	char source[64];
	char *cc[] = { S(cc1()), S("-quiet"), S("-O2"), source, S("-o"), S("/dev/null"), NULL };

	(void)snprintf(source, sizeof(source), "%s/source.c", dir);
	write_source(source);
	if (cc[0])
		measure(cc, out, which, pairs);
	(void)unlink(source);
	measure(python, out, which, pairs);
	measure(xz, out, which, pairs);
}

int main(int argc, char **argv)
{
	char dir[] = "/dev/shm/ptcap-bench.XXXXXX", out[64], which = '\0';
	const char *file = NULL;
	size_t pairs = 5;
	int c, null;

	while ((c = getopt(argc, argv, "+etlcfp:i:")) != -1) {
		if (c == 'f')
			bd_engine = "fast";
		else if (c == 'p')
			pairs = strtoul(optarg, NULL, 10);
		else if (c == 'i')
			file = optarg;
		else
			which = (char)c;
	}
	if (!pairs || pairs > MAX_PAIRS || which == '?') {
		fprintf(stderr, "usage: bench_decode [-e|-t|-l|-c] [-f] [-p PAIRS] [-i FILE | "
				"COMMAND...]\n");
		return 2;
	}
	if (file) {
		measure_file(file, which, pairs);
		return 0;
	}
	if (!mkdtemp(dir))
		bd_die("cannot make a folder");
	(void)snprintf(out, sizeof(out), "%s/perf.data", dir);
	null = open("/dev/null", O_WRONLY); /* the commands' output; results go to stderr */
	(void)dup2(null, STDOUT_FILENO);
	if (optind < argc)
		measure(argv + optind, out, which, pairs);
	else
		measure_all(dir, out, which, pairs);
	(void)rmdir(dir);
	return 0;
}
