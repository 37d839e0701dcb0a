/* SPDX-License-Identifier: MIT */
/*
 * Benefit of a second thread: `decode -j 2` against two single-threaded processes at the same time,
 * the most that two CPUs can do, and against a single one alone. Each process opens the recording,
 * decodes it and hashes every branch. Instructions, branches and hash must agree. The runs
 * alternate; medians are printed:
 *
 *	speed	trace per second of -j 2, relative to both processes together (goal: at least 0.9)
 *	cpu	CPU time of -j 2, relative to one of the two processes (goal: at most 1.1)
 *	of one	trace per second of -j 2, relative to the process alone (goal: at least 1.8).
 *		The same for the two processes together.
 *	memory	peak of -j 2, and of one of the two processes
 *	line	round-trip time of a cache line to another CPU
 *
 * Then the elapsed seconds of each pair: -j 2, both processes together, the process alone.
 *
 * The line's figure is about 60 ns if the CPUs share a cache, and several times more otherwise. A
 * host moves virtual CPUs at will. So it is measured before and after each pair. Medians are also
 * printed for the pairs with a low value both times, and for those with a high value.
 *
 *	bench_jobs [-r] [-s] [-e fast|libipt|verify] [-j THREADS] [-b BYTES] [-p PAIRS] FILE...
 *
 * THREADS is also the number of processes. -e selects the engine (default: the library's). BYTES is
 * the approximate amount of trace per unit of work. With -r the sink takes RUN items. With -s
 * branches are counted, as `decode --stats` does, and the hash covers the counts by kind. FILE is
 * from `ptcap record`; about 40 MB of trace are enough.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptcap/decode.h"

enum { MAX_PAIRS = 64, MAX_THREADS = 64, MEMORY = 1 << 30 };

/* Round trips of the cache line. */
enum { TIMES = 50000 };

/* If a cache line takes longer than this, the two CPUs share no cache. */
static const double far_ns = 150;

struct count {
	uint64_t insns, transfers, hash;
};

/* Cost of one or more processes. */
struct cost {
	double wall, cpu; /* seconds */
	double mib;	  /* peak of the largest process */
	struct count c;
};

static void die(const char *what)
{
	fprintf(stderr, "bench_jobs: %s\n", what);
	exit(1);
}

static size_t slice; /* 0: automatic */
static bool counts, runs;
static enum ptc_engine_choice engine;

struct seen {
	uint64_t transfers, hash, kinds[PTC_KIND_COUNT];
};

static void mix(struct seen *s, uint64_t value)
{
	s->hash = (s->hash << 7 | s->hash >> 57) ^ value;
}

static inline void see(struct seen *s, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	s->transfers++;
	if (counts)
		s->kinds[kind]++;
	else
		mix(s, from + to * 0x9e3779b97f4a7c15 + ((uint64_t)kind << 56));
}

static void see_run(struct seen *s, const struct ptc_transfer *t, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		see(s, ptc_transfer_from(t[i]), t[i].to, ptc_transfer_kind(t[i]));
}

static int see_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct seen *s = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_BRANCH)
			see(s, it->from, it->to, (enum ptc_kind)it->kind);
		else if (it->type == PTC_ITEM_RUN)
			see_run(s, ptc_item_transfers(it), it->to);
	}
	return 0;
}

static int see_sums(void *ctx, const struct ptc_sums *sums)
{
	struct seen *s = ctx;
	size_t i;

	for (i = 0; i < PTC_KIND_COUNT; i++)
		s->kinds[i] += sums->kinds[i];
	s->transfers += sums->transfers;
	return 0;
}

static struct count decode(const char *path, unsigned int jobs)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct seen s = { .hash = 0 };
	const struct ptc_sink sink = { see_items, &s };
	const struct ptc_sums_sink sums = { see_sums, &s };
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct ptc_decode *d;
	struct ptc_err err;
	size_t i;

	opts.jobs = jobs;
	opts.slice = slice;
	opts.engine = engine;
	opts.sums = counts ? &sums : NULL;
	opts.runs = runs;
	if (ptc_decode_open(path, &opts, &d, &err) < 0 || ptc_decode_run(d, &sink, &err) < 0)
		die(err.msg);
	ptc_decode_get_stats(d, &stats);
	ptc_decode_free(d);
	for (i = 0; counts && i < PTC_KIND_COUNT; i++)
		mix(&s, s.kinds[i]);
	return (struct count){ stats.insns, s.transfers, s.hash };
}

static double wall_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Decode in a process of its own, which writes its counts to @out. */
static void start(const char *path, unsigned int jobs, int out)
{
	const pid_t pid = fork();
	struct count c;

	if (pid < 0)
		die("cannot start a process");
	if (pid)
		return;
	c = decode(path, jobs);
	_exit(write(out, &c, sizeof(c)) != sizeof(c));
}

static void add_child(struct cost *cost, int in)
{
	struct count c = { .insns = 0 };
	struct rusage ru;
	int status;

	if (wait4(-1, &status, 0, &ru) < 0 || status || read(in, &c, sizeof(c)) != sizeof(c))
		die("a process failed");
	if (cost->c.insns && memcmp(&c, &cost->c, sizeof(c)) != 0)
		die("they do not see the same");
	cost->c = c;
	cost->cpu += (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		     (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	if ((double)ru.ru_maxrss / 1024 > cost->mib)
		cost->mib = (double)ru.ru_maxrss / 1024;
}

/*
 * The host may have reclaimed free memory of the machine. Getting it back can cost a tenth of the
 * decoding time, for the first process only. So all of it is touched before a measurement.
 */
static void have_memory(void)
{
	void *p = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED || munmap(p, MEMORY))
		die("out of memory");
}

/* Run @n processes at the same time. */
static struct cost run(const char *path, unsigned int n, unsigned int jobs)
{
	struct cost cost = { .wall = 0 };
	unsigned int i;
	int fd[2];

	if (pipe(fd))
		die("cannot make a pipe");
	have_memory();
	cost.wall = -wall_now();
	for (i = 0; i < n; i++)
		start(path, jobs, fd[1]);
	for (i = 0; i < n; i++)
		add_child(&cost, fd[0]);
	cost.wall += wall_now();
	(void)close(fd[0]);
	(void)close(fd[1]);
	return cost;
}

static alignas(128) atomic_uint line;

/*
 * Wait until the line is @i. Yields the CPU from time to time, in case the other thread needs it.
 */
static void await_line(unsigned int i)
{
	unsigned int looks = 0;

	while (atomic_load_explicit(&line, memory_order_acquire) != i)
		if (++looks % 1024 == 0)
			(void)sched_yield();
}

/* Answer each value with the next one. */
static void *throw_back(void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 1; i < 2 * TIMES; i += 2) {
		await_line(i);
		atomic_store_explicit(&line, i + 1, memory_order_release);
	}
	return NULL;
}

/* Returns the round-trip time in ns, on the CPUs that the system assigns to two busy threads. */
static double line_time(void)
{
	pthread_t other;
	unsigned int i;
	double wall;

	atomic_store(&line, 0);
	if (pthread_create(&other, NULL, throw_back, NULL))
		die("cannot start a thread");
	wall = -wall_now();
	for (i = 1; i < 2 * TIMES; i += 2) {
		atomic_store_explicit(&line, i, memory_order_release);
		await_line(i + 1);
	}
	wall += wall_now();
	(void)pthread_join(other, NULL);
	return wall * 1e9 / (double)TIMES;
}

/* Figures printed for each pair. */
enum figure { SPEED, CPU, OF_ONE, MOST, FIGURES };

struct pair {
	double v[FIGURES], before, after; /* before, after: the line's ns */
	double together, apart, alone;	  /* elapsed seconds */
};

static bool is_near(const struct pair *p)
{
	return p->before < far_ns && p->after < far_ns;
}

static bool is_far(const struct pair *p)
{
	return p->before >= far_ns && p->after >= far_ns;
}

static bool is_any(const struct pair *p)
{
	return p->v[SPEED] > 0;
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

/* Print medians of those pairs among @n that are @such, if any. */
static void tell(const char *which, const struct pair *pairs, size_t n,
		 bool (*such)(const struct pair *))
{
	static const char *const names[FIGURES] = { "speed", "cpu", "of one", "and" };
	double v[MAX_PAIRS] = { 0 }, mid;
	size_t f, i, k;

	for (f = 0; f < FIGURES; f++) {
		for (i = k = 0; i < n; i++)
			if (such(&pairs[i]))
				v[k++] = pairs[i].v[f];
		if (!k)
			return;
		mid = median(v, k);
		if (!f)
			printf("  %s %zu:", which, k);
		printf("  %s %.2f (%.2f to %.2f)", names[f], mid, v[0], v[k - 1]);
	}
	putchar('\n');
}

static struct pair measure_pair(const char *path, unsigned int n, struct cost *together,
				struct cost *apart)
{
	struct pair p = { .before = line_time() };
	struct cost alone;

	*together = run(path, 1, n);
	*apart = run(path, n, 1);
	alone = run(path, 1, 1);
	p.after = line_time();
	if (memcmp(&together->c, &apart->c, sizeof(apart->c)) != 0 ||
	    memcmp(&alone.c, &apart->c, sizeof(apart->c)) != 0)
		die("they do not see the same");
	p.v[SPEED] = apart->wall / n / together->wall;
	p.v[CPU] = together->cpu / (apart->cpu / n);
	p.v[OF_ONE] = alone.wall / together->wall;
	p.v[MOST] = alone.wall * n / apart->wall;
	p.together = together->wall;
	p.apart = apart->wall;
	p.alone = alone.wall;
	return p;
}

/* Print the elapsed seconds of each pair: -j, the processes at the same time, a process alone. */
static void tell_seconds(const struct pair *pairs, size_t n)
{
	size_t i;

	printf("  elapsed, s:");
	for (i = 0; i < n; i++)
		printf(" %.4f-%.4f-%.4f", pairs[i].together, pairs[i].apart, pairs[i].alone);
	putchar('\n');
}

static void tell_lines(const struct pair *pairs, size_t n)
{
	size_t i;

	printf("  line, ns:");
	for (i = 0; i < n; i++)
		printf(" %.0f-%.0f", pairs[i].before, pairs[i].after);
	putchar('\n');
}

static void measure(const char *path, unsigned int n, size_t npairs)
{
	struct cost together = { .wall = 0 }, apart = together;
	struct pair pairs[MAX_PAIRS] = { { .before = 0 } };
	size_t i;

	for (i = 0; i < npairs; i++)
		pairs[i] = measure_pair(path, n, &together, &apart);
	printf("%s: -j %u: %" PRIu64 " instructions, %" PRIu64 " transfers, hash %016" PRIx64 "\n"
	       "%s: %u x -j 1: %" PRIu64 " instructions, %" PRIu64 " transfers, hash %016" PRIx64
	       "\n",
	       path, n, together.c.insns, together.c.transfers, together.c.hash, path, n,
	       apart.c.insns, apart.c.transfers, apart.c.hash);
	tell("all", pairs, npairs, is_any);
	tell("near", pairs, npairs, is_near);
	tell("far", pairs, npairs, is_far);
	tell_lines(pairs, npairs);
	tell_seconds(pairs, npairs);
	printf("  memory %.0f and %.0f MiB\n", together.mib, apart.mib);
	(void)fflush(stdout);
}

static size_t number(const char *text, size_t max)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 0);

	if (*end || !n || n > max)
		die("that is no number, or too large");
	return n;
}

static enum ptc_engine_choice engine_of(const char *name)
{
	if (!strcmp(name, "libipt"))
		return PTC_ENGINE_LIBIPT;
	if (!strcmp(name, "fast"))
		return PTC_ENGINE_FAST;
	if (!strcmp(name, "verify"))
		return PTC_ENGINE_VERIFY;
	die("there is no engine of that name");
	return PTC_ENGINE_DEFAULT;
}

int main(int argc, char **argv)
{
	size_t pairs = 5, n = 2;
	int opt;

	while ((opt = getopt(argc, argv, "b:e:j:p:rs")) != -1) {
		if (opt == 's')
			counts = true;
		else if (opt == 'r')
			runs = true;
		else if (opt == 'e')
			engine = engine_of(optarg);
		else if (opt == 'j')
			n = number(optarg, MAX_THREADS);
		else if (opt == 'b')
			slice = number(optarg, 1 << 30);
		else if (opt == 'p')
			pairs = number(optarg, MAX_PAIRS);
		else
			return 2;
	}
	if (optind == argc)
		die("usage: bench_jobs [-r] [-s] [-e fast|libipt|verify] [-j THREADS] [-b BYTES] "
		    "[-p PAIRS] FILE...");
	for (; optind < argc; optind++)
		measure(argv[optind], (unsigned int)n, pairs);
	return 0;
}
