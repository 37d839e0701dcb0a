/* SPDX-License-Identifier: MIT */
/*
 * Compares the branch stacks (LBR) of a recording with its trace. Prints how many entries got each
 * verdict, and each wrong entry beside the branch of the trace. Valid C and C++.
 *
 *	cc compare.c -lptcap -o compare (README.md: without an installed ptcap)
 *	./compare perf.data
 */
#include <inttypes.h>
#include <stdio.h>

#include "ptcap/compare.h"

struct sums {
	struct ptc_decode *d;
	uint64_t samples, skipped, missing;
	uint64_t verdicts[PTC_VERDICT_COUNT];
};

static void print_end(struct sums *s, const struct ptc_compare_sample *sample, uint64_t ip)
{
	uint64_t off = 0;
	const char *name = ptc_decode_symbol(s->d, &sample->where, ip, &off);

	printf(" %" PRIx64, ip);
	if (name)
		printf(" %s+0x%" PRIx64, name, off);
}

/* Print the ends of a branch, from the older address to the newer one. */
static void print_branch(struct sums *s, const struct ptc_compare_sample *sample, uint64_t from,
			 uint64_t to)
{
	print_end(s, sample, from);
	printf(" ->");
	print_end(s, sample, to);
}

static void take_entry(struct sums *s, const struct ptc_compare_sample *sample, size_t i)
{
	const struct ptc_compare_entry *e = ptc_compare_entry(sample, i);
	const enum ptc_verdict v = (enum ptc_verdict)e->verdict;
	const struct ptc_step *step = NULL;
	uint32_t k;

	if ((size_t)v < sizeof(s->verdicts) / sizeof(s->verdicts[0]))
		s->verdicts[v]++;
	if (v != PTC_VERDICT_EXACT && ptc_verdict_is_judged(v)) {
		printf("%s:", ptc_verdict_name(v));
		print_branch(s, sample, e->branch->from, e->branch->to);
		if (e->step) {
			printf(", trace:");
			print_branch(s, sample, e->step->from, e->step->to);
		}
		printf("\n");
	}
	for (k = 0; k < e->missing; k++) {
		step = ptc_compare_missing(sample, i, step);
		if (!step)
			break;
		s->missing++;
		printf("missing:");
		print_branch(s, sample, step->from, step->to);
		printf("\n");
	}
}

/* The sample is borrowed until the function returns. */
static bool on_sample(void *ctx, const struct ptc_compare_sample *sample)
{
	struct sums *s = (struct sums *)ctx;
	size_t i;

	s->samples++;
	s->skipped += sample->skip != PTC_COMPARE_JUDGED;
	for (i = 0; sample->skip == PTC_COMPARE_JUDGED && i < sample->n; i++)
		take_entry(s, sample, i);
	return true;
}

static int compare(const char *path, struct sums *s, struct ptc_err *err)
{
	struct ptc_decode_opts decode = PTC_DECODE_OPTS_INIT;
	struct ptc_compare_opts opts = PTC_COMPARE_OPTS_INIT;
	struct ptc_compare_total total = PTC_COMPARE_TOTAL_INIT;
	int rc;

	decode.untraced = true; /* also open a recording without a trace */
	rc = ptc_decode_open(path, &decode, &s->d, err);
	if (rc)
		return rc;
	opts.d = s->d;
	opts.on_sample = on_sample;
	opts.ctx = s;
	rc = ptc_compare_run(&opts, &total, err);
	ptc_decode_free(s->d);
	if (!rc && !total.traced)
		printf("no trace\n");
	return rc;
}

int main(int argc, char **argv)
{
	struct sums s = { NULL, 0, 0, 0, { 0 } };
	struct ptc_err err;
	int v;

	if (argc != 2) {
		fprintf(stderr, "usage: compare FILE\n");
		return 2;
	}
	if (compare(argv[1], &s, &err)) {
		fprintf(stderr, "compare: %s\n", err.msg);
		return 1;
	}
	printf("samples: %" PRIu64 "\nskipped: %" PRIu64 "\n", s.samples, s.skipped);
	for (v = 0; v < PTC_VERDICT_COUNT; v++)
		if (s.verdicts[v])
			printf("entries %s: %" PRIu64 "\n", ptc_verdict_name((enum ptc_verdict)v),
			       s.verdicts[v]);
	printf("branches missing: %" PRIu64 "\n", s.missing);
	return 0;
}
