/* SPDX-License-Identifier: MIT */
/*
 * Cost of comparing branch stacks, relative to decoding the same file with a sink that hashes every
 * branch. CPU time of one thread; the two alternate. Prints medians and their ratio, which should
 * be at most 1.3.
 *
 *	bench_compare [-p PAIRS] FILE		(5)
 *
 * FILE has trace and branch stacks: ptcap record -o a -- COMMAND; ptcap convert -i a -o FILE
 * --branch-stacks=32,10000
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ptcap/compare.h"

enum { MAX_PAIRS = 64 };

static void must(int rc, const struct ptc_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_compare: %s\n", err->msg);
	exit(1);
}

static double cpu_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
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

struct hash {
	uint64_t value, transfers;
};

static int hash_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct hash *h = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		h->value = (h->value ^ items[i].from) * UINT64_C(0x9e3779b97f4a7c15);
		h->value = (h->value ^ items[i].to) * UINT64_C(0x9e3779b97f4a7c15);
	}
	h->transfers += n;
	return 0;
}

static double decode(const char *path, struct hash *ret)
{
	const struct ptc_sink sink = { hash_items, ret };
	const double from = cpu_now();
	struct ptc_decode *d;
	struct ptc_err err;

	*ret = (struct hash){ .value = 0 };
	must(ptc_decode_open(path, NULL, &d, &err), &err);
	must(ptc_decode_run(d, &sink, &err), &err);
	ptc_decode_free(d);
	return cpu_now() - from;
}

struct sum {
	uint64_t samples, entries, judged;
};

static bool on_sample(void *ctx, const struct ptc_compare_sample *s)
{
	struct sum *sum = ctx;
	const struct ptc_compare_entry *e;
	size_t i;

	sum->samples++;
	sum->entries += s->n;
	for (i = 0; (e = ptc_compare_entry(s, i)) != NULL; i++)
		sum->judged += ptc_verdict_is_judged((enum ptc_verdict)e->verdict);
	return true;
}

static double compare(const char *path, struct sum *sum)
{
	const double from = cpu_now();
	struct ptc_compare_opts opts = PTC_COMPARE_OPTS_INIT;
	struct ptc_compare_total total = PTC_COMPARE_TOTAL_INIT;
	struct ptc_err err;

	opts.on_sample = on_sample;
	opts.ctx = sum;
	must(ptc_decode_open(path, NULL, &opts.d, &err), &err);
	must(ptc_compare_run(&opts, &total, &err), &err);
	ptc_decode_free(opts.d);
	return cpu_now() - from;
}

int main(int argc, char **argv)
{
	struct sum sum = { 0 };
	double plain[MAX_PAIRS], full[MAX_PAIRS], a, b;
	size_t pairs = 5, i;
	struct hash h;
	int c;

	while ((c = getopt(argc, argv, "p:")) != -1)
		pairs = c == 'p' ? strtoul(optarg, NULL, 10) : 0;
	if (optind + 1 != argc || !pairs || pairs > MAX_PAIRS) {
		fprintf(stderr, "usage: bench_compare [-p PAIRS] FILE\n");
		return 2;
	}
	for (i = 0; i < pairs; i++) {
		sum = (struct sum){ 0 };
		plain[i] = decode(argv[optind], &h);
		full[i] = compare(argv[optind], &sum);
	}
	a = median(plain, pairs);
	b = median(full, pairs);
	printf("%" PRIu64 " transfers (hash %016" PRIx64 "), %" PRIu64 " samples, %" PRIu64
	       " entries, %" PRIu64 " judged\n",
	       h.transfers, h.value, sum.samples, sum.entries, sum.judged);
	printf("decode %.3f s, compare %.3f s: %.2f times\n", a, b, b / a);
	return 0;
}
