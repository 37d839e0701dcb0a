/* SPDX-License-Identifier: MIT */
/*
 * Cost of decoding, as ratios of CPU time to the unavoidable minimum. Programs are recorded with
 * the emulated source. For each of them:
 *
 *	engine	ptc_decode_pass with a sink that hashes every branch, against a bare loop around
 *		libipt's block decoder with the same flags, image and warm section cache. Both
 *		count instructions, which must agree. One thread.
 *	text	ptcap decode -j 1 -F from,to against perf script --itrace=b -F ip,addr. Both print
 *		one line per branch, and the number of lines must agree.
 *	last	ptcap decode --last 1000, in ms, and relative to decoding all.
 *
 * The two of a pair alternate; medians are printed. Slow programs get fewer pairs: the whole run
 * takes about a quarter of an hour. Required: perf, gcc, python3, xz, QEMU, and 200 MB of /dev/shm.
 * Breakdown of the decoding time: pt_pkt_next over the trace (packets), the bare loop (flow), and
 * the rest.
 *
 *	bench_decode [-e|-t|-l] [-f] [-p PAIRS] [-i FILE | COMMAND...]
 *						(all three; 5; cc1, python3 and xz)
 *	-f	with the second engine, which analyses the code again in each run
 */
#include <fcntl.h>
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decode/run.h"
#include "ptcap/capture.h"

enum { MAX_PAIRS = 64, MAX_ARGS = 64, LAST = 1000 };

/* Seconds after which no further pair is started. */
static const double BUDGET = 60;

static const char *engine = "libipt"; /* of ptcap's runs */

static void die(const char *what)
{
	fprintf(stderr, "bench_decode: %s\n", what);
	exit(1);
}

static void must(int rc, const struct ptc_err *err)
{
	if (rc < 0)
		die(err->msg);
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

static double wall_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Return whether to measure another pair, after @done of at most @pairs since @begin. */
static bool goes_on(size_t done, size_t pairs, double begin)
{
	return done < pairs && (!done || wall_now() - begin < BUDGET);
}

/* --- engine --- */

/* CPU time of this process, in seconds. */
static double cpu_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct trace {
	uint8_t *bytes; /* owned; one contiguous span */
	size_t len;
};

struct count {
	uint64_t insns, blocks, transfers, hash;
	double s;
};

static int hash_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct count *c = ctx;
	uint64_t h = c->hash, transfers = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].type != PTC_ITEM_BRANCH)
			continue;
		transfers++;
		h = (h << 7 | h >> 57) ^ (items[i].from + items[i].to * 0x9e3779b97f4a7c15 +
					  ((uint64_t)items[i].kind << 56));
	}
	c->hash = h;
	c->transfers += transfers;
	return 0;
}

static struct count ours(struct ptc_decode *d)
{
	struct count c = { .hash = 0 };
	const struct ptc_sink sink = { hash_items, &c };
	struct ptc_err err;
	const double t = cpu_now();

	must(ptc_decode_pass(d, &sink, &err), &err);
	c.s = cpu_now() - t;
	c.insns = d->stats.insns;
	must(ptc_decode_rewind(d, &err), &err);
	return c;
}

/* The code as libipt uses it. */
struct code {
	struct ptc_ipt *ipt;
	struct ptc_addrspace *as;
	const struct ptc_ipt_image *image;
};

/* Update the image: at the start, and after libipt read code that can come from a file. */
static void tell_libipt(struct code *c)
{
	struct ptc_err err;

	must(ptc_ipt_image(c->ipt, c->as, PTC_MODE_64, &c->image, &err), &err);
}

/*
 * Returns the process with the most code, in its final state. The recording must have no other
 * relevant process.
 */
static struct code last_code(struct ptc_decode *d)
{
	struct code code = { .ipt = &d->ipt };
	struct ptc_addrspace *as = NULL;
	struct ptc_err err;
	size_t i;

	while (ptc_sideband_peek(&d->sideband, UINT64_MAX))
		must(ptc_sideband_apply(&d->sideband, &d->procs, &err), &err);
	for (i = 0; i < d->procs.nprocs; i++)
		if (!as ||
		    ptc_ranges_count(&d->procs.procs[i]->as.ranges) > ptc_ranges_count(&as->ranges))
			as = &d->procs.procs[i]->as;
	if (!as)
		die("the recording has no process");
	code.as = as;
	tell_libipt(&code);
	return code;
}

/* Decode blocks from a PSB until libipt fails, or to the end. Returns the decoder's status. */
static int run_blocks(struct pt_block_decoder *dec, struct code *code, struct count *c)
{
	struct pt_event ev;
	struct pt_block b;
	int status = pt_blk_sync_forward(dec);

	if (status < 0)
		return -pte_eos;
	for (;;) {
		while (status & pts_event_pending) {
			status = pt_blk_event(dec, &ev, sizeof(ev));
			if (status < 0)
				return status;
		}
		if (status & pts_eos)
			return -pte_eos;
		status = pt_blk_next(dec, &b, sizeof(b));
		c->insns += b.ninsn;
		c->blocks++;
		if (code->image->nwanted)
			tell_libipt(code);
		if (status < 0)
			return status;
	}
}

static struct count bare(struct ptc_decode *d, const struct trace *traces, size_t n)
{
	struct code code = last_code(d);
	struct count c = { .hash = 0 };
	struct pt_block_decoder *dec;
	struct ptc_err err;
	double t;
	size_t i;

	for (i = 0; i < n; i++) {
		must(ptc_ipt_decoder(&d->ipt, traces[i].bytes, traces[i].len, &dec, &err), &err);
		(void)pt_blk_set_image(dec, code.image->image);
		t = cpu_now();
		while (run_blocks(dec, &code, &c) != -pte_eos)
			;
		c.s += cpu_now() - t;
		pt_blk_free_decoder(dec);
	}
	must(ptc_decode_rewind(d, &err), &err);
	return c;
}

/* Returns the seconds of libipt's packet decoder alone. */
static double packets(const struct ptc_decode *d, const struct trace *traces, size_t n)
{
	struct pt_packet_decoder *dec;
	struct pt_config config;
	struct pt_packet p;
	double t, s = 0;
	size_t i;

	pt_config_init(&config);
	config.mtc_freq = d->ipt.params.mtc_freq;
	config.nom_freq = d->ipt.params.nom_freq;
	for (i = 0; i < n; i++) {
		config.begin = traces[i].bytes;
		config.end = traces[i].bytes + traces[i].len;
		dec = pt_pkt_alloc_decoder(&config);
		if (!dec || pt_pkt_sync_forward(dec) < 0)
			die("no packets");
		t = cpu_now();
		while (pt_pkt_next(dec, &p, sizeof(p)) > 0)
			;
		s += cpu_now() - t;
		pt_pkt_free_decoder(dec);
	}
	return s;
}

static struct trace *copy_traces(const struct ptc_decode *d, size_t *ret_n, uint64_t *ret_bytes)
{
	struct trace *traces = NULL;
	size_t i, k, n = 0;

	*ret_bytes = 0;
	for (i = 0; i < d->nlanes; i++) {
		const struct ptc_stream *s = &d->lanes[i].stream;

		for (k = 0; k < s->n; k++, n++) {
			traces = reallocarray(traces, n + 1, sizeof(*traces));
			if (!traces)
				die("out of memory");
			traces[n].len = s->spans[k].len;
			traces[n].bytes = malloc(traces[n].len + 1);
			if (!traces[n].bytes)
				die("out of memory");
			ptc_span_read(&s->spans[k], 0, traces[n].bytes, traces[n].len);
			*ret_bytes += traces[n].len;
		}
	}
	*ret_n = n;
	return traces;
}

/* Print shares of the seconds of the packet decoder, the bare loop, and ptcap. */
static void tell_shares(double pkt, double bare_s, double ours_s)
{
	fprintf(stderr,
		"          of our time: packets %.0f %%, flow %.0f %%, our own work %.0f %%\n",
		100 * pkt / ours_s, 100 * (bare_s - pkt) / ours_s,
		100 * (ours_s - bare_s) / ours_s);
}

static void bench_engine(const char *path, size_t pairs)
{
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], x, y, mid, begin;
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct count theirs = { .hash = 0 }, us = theirs;
	struct ptc_decode *d;
	struct trace *traces;
	struct ptc_err err;
	uint64_t bytes;
	size_t i, n;

	opts.engine = !strcmp(engine, "fast") ? PTC_ENGINE_FAST : PTC_ENGINE_LIBIPT;
	must(ptc_decode_open(path, &opts, &d, &err), &err);
	traces = copy_traces(d, &n, &bytes);
	(void)ours(d); /* warm up the section cache for both */
	begin = wall_now();
	for (i = 0; goes_on(i, pairs, begin); i++) {
		theirs = bare(d, traces, n);
		us = ours(d);
		if (us.insns != theirs.insns)
			break;
		a[i] = theirs.s;
		b[i] = us.s;
		ratio[i] = a[i] / b[i];
	}
	if (us.insns != theirs.insns) {
		fprintf(stderr,
			"  engine  we see %" PRIu64 " instructions, the bare loop %" PRIu64 "\n",
			us.insns, theirs.insns);
		exit(1);
	}
	pairs = i;
	x = median(a, pairs);
	y = median(b, pairs);
	mid = median(ratio, pairs);
	fprintf(stderr,
		"  engine  %.2f of the bare loop's speed (%.2f to %.2f; the fastest runs of each: "
		"%.2f); %" PRIu64 " instructions each\n"
		"          bare %6.2f s, %6.1f MB/s, %5.1f M blocks/s; ours %6.2f s, %6.1f MB/s, "
		"%5.1f M blocks/s, %5.1f M transfers/s (hash %016" PRIx64 ")\n",
		mid, ratio[0], ratio[pairs - 1], a[0] / b[0], us.insns, x, (double)bytes / 1e6 / x,
		(double)theirs.blocks / 1e6 / x, y, (double)bytes / 1e6 / y,
		(double)theirs.blocks / 1e6 / y, (double)us.transfers / 1e6 / y, us.hash);
	/* The bare loop is a part of ptcap's work only with libipt. */
	if (opts.engine == PTC_ENGINE_LIBIPT)
		tell_shares(packets(d, traces, n), x, y);
	for (i = 0; i < n; i++)
		free(traces[i].bytes);
	free(traces);
	ptc_decode_free(d);
}

/* --- commands --- */

/* FILE, PTCAP and ENGINE are placeholders. */
static const char *const decode_text[] = {
	"PTCAP",    "decode", "-i", "FILE",    "-j",	     "1",
	"--engine", "ENGINE", "-F", "from,to", "--no-pager", NULL
};
static const char *const decode_last[] = { "PTCAP",    "decode",  "-i",		"FILE",
					   "--engine", "ENGINE",  "--last",	"1000",
					   "-F",       "from,to", "--no-pager", NULL };
static const char *const perf_text[] = { "perf",    "script", "--itrace=b", "-F",
					 "ip,addr", "-i",     "FILE",	    NULL };

struct run {
	double cpu, wall; /* seconds */
	uint64_t lines;	  /* if counted */
};

static const char *ptcap(void)
{
	static char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("ptcap"));
	char *slash;

	if (n <= 0)
		die("cannot tell where ptcap is");
	path[n] = '\0';
	slash = strrchr(path, '/');
	memcpy(slash + 1, "ptcap", sizeof("ptcap"));
	return path;
}

static uint64_t count_lines(int fd)
{
	static char buf[1 << 20];
	uint64_t lines = 0;
	ssize_t n, i;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	return lines;
}

/* @count: count the lines, through a pipe. Otherwise the output goes to /dev/null. */
static bool run_command(const char *const *line, const char *file, bool count, struct run *ret)
{
	char *argv[MAX_ARGS] = { NULL };
	int fd[2] = { -1, -1 }, status, null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	struct rusage ru;
	double t;
	pid_t pid;

	for (i = 0; line[i] && i + 1 < MAX_ARGS; i++)
		argv[i] = (char *)(uintptr_t)(!strcmp(line[i], "FILE")	 ? file :
					      !strcmp(line[i], "ENGINE") ? engine :
					      !strcmp(line[i], "PTCAP")	 ? ptcap() :
									   line[i]);
	if (count && pipe2(fd, O_CLOEXEC))
		die("cannot make a pipe");
	t = wall_now();
	pid = fork();
	if (!pid) {
		(void)dup2(count ? fd[1] : null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	(void)close(fd[1]);
	ret->lines = count ? count_lines(fd[0]) : 0;
	if (count)
		(void)close(fd[0]);
	(void)close(null);
	if (pid < 0 || wait4(pid, &status, 0, &ru) != pid || status)
		return false;
	ret->wall = wall_now() - t;
	ret->cpu = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		   (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	return true;
}

static struct run must_run(const char *const *line, const char *file, bool count)
{
	struct run r;

	if (!run_command(line, file, count, &r))
		die("ptcap decode failed");
	return r;
}

static void bench_text(const char *path, size_t pairs)
{
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], mid, begin;
	struct run perf, us = must_run(decode_text, path, true);
	uint64_t lines;
	size_t i;

	if (!run_command(perf_text, path, true, &perf)) {
		fprintf(stderr, "  text    perf script did not work\n");
		return;
	}
	lines = us.lines;
	if (lines != perf.lines) {
		fprintf(stderr, "  text    we print %" PRIu64 " transfers, perf %" PRIu64 "\n",
			lines, perf.lines);
		exit(1);
	}
	begin = wall_now();
	for (i = 0; goes_on(i, pairs, begin); i++) {
		(void)run_command(perf_text, path, false, &perf);
		us = must_run(decode_text, path, false);
		a[i] = perf.cpu;
		b[i] = us.cpu;
		ratio[i] = a[i] / b[i];
	}
	pairs = i;
	mid = median(ratio, pairs);
	fprintf(stderr,
		"  text    %.2f times the speed of perf script (%.2f to %.2f); %" PRIu64
		" transfers each; perf %.2f s, ours %.2f s\n",
		mid, ratio[0], ratio[pairs - 1], lines, median(a, pairs), median(b, pairs));
}

static void bench_last(const char *path, size_t pairs)
{
	double cpu[MAX_PAIRS], wall[MAX_PAIRS];
	const uint64_t lines = must_run(decode_last, path, true).lines;
	struct run r;
	size_t i;

	for (i = 0; i < pairs; i++) {
		r = must_run(decode_last, path, false);
		cpu[i] = r.cpu * 1e3;
		wall[i] = r.wall * 1e3;
	}
	r = must_run(decode_text, path, false);
	fprintf(stderr,
		"  last    --last %d: %" PRIu64
		" lines in %.1f ms, CPU time %.1f ms; all of it takes %.0f times that\n",
		LAST, lines, median(wall, pairs), median(cpu, pairs),
		r.cpu * 1e3 / median(cpu, pairs));
}

/* --- recordings --- */

static void record(char *const *argv, const char *out)
{
	struct ptc_record_opts o = { .size = sizeof(o),
				     .output = out,
				     .argv = argv,
				     .source = PTC_SOURCE_EMU,
				     .wake_fd = -1 };
	struct ptc_record_result r;
	struct ptc_err err;

	must(ptc_record(&o, &r, &err), &err);
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
		die("cannot write a source file");
	for (i = 0; i < 30; i++)
		(void)fprintf(f,
			      "int g%d;\nint f%d(int a, int b)\n{\n\tint i, s = 0;\n\tfor (i = 0; "
			      "i < a; i++) {\n\t\tif (i %% %d == b)\n\t\t\ts += i * g%d;\n\t\telse "
			      "switch (i & 7) {\n\t\tcase 0: s ^= b; break;\n\t\tcase 1: s -= a; "
			      "break;\n\t\tcase 3: s *= 7; break;\n\t\tdefault: s += f%d(i, b);\n"
			      "\t\t}\n\t}\n\tg%d = s;\n\treturn s;\n}\n",
			      i, i, i + 2, i, i ? i - 1 : 0, i);
	if (fclose(f))
		die("cannot write a source file");
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

	while ((c = getopt(argc, argv, "+etlfp:i:")) != -1) {
		if (c == 'f')
			engine = "fast";
		else if (c == 'p')
			pairs = strtoul(optarg, NULL, 10);
		else if (c == 'i')
			file = optarg;
		else
			which = (char)c;
	}
	if (!pairs || pairs > MAX_PAIRS || which == '?') {
		fprintf(stderr,
			"usage: bench_decode [-e|-t|-l] [-f] [-p PAIRS] [-i FILE | COMMAND...]\n");
		return 2;
	}
	if (file) {
		measure_file(file, which, pairs);
		return 0;
	}
	if (!mkdtemp(dir))
		die("cannot make a folder");
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
