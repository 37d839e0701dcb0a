/* SPDX-License-Identifier: MIT */
/*
 * The second engine against libipt's block decoder on the same trace: one thread, CPU time. Each
 * PATH is a recording of one process whose code does not change, or a folder with a bare trace. The
 * two alternate; medians are printed:
 *
 *	cold	the engine's first pass, without knowledge of the code
 *	hot	the code is known; in both rows libipt has a warm section cache
 *
 * For a short trace, hot passes of both are repeated up to a MiB of trace, and their mean is used.
 * Both count instructions, which must agree. The engine produces branches of 16 bytes each, which
 * are discarded. With -c branches are counted by kind, from references to the engine's own storage.
 * The seconds of each pair are printed when the pair ends, so bench/all can use those of a run that
 * was ended. With -n PASSES the engine runs alone, its first pass and later ones. With -l PASSES
 * libipt runs alone, over 2 MiB from the middle of the longest stretch. bench/instructions counts
 * both.
 *
 *	bench_fast [-c] [-n PASSES | -l PASSES | -p PAIRS] PATH...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <intel-pt.h>

#include "decode/image/addrspace.h"
#include "decode/session/decoder.h"
#include "lib_fast.h"

enum { MAX_PAIRS = 64, WARM = 2, HOT_BYTES = 1 << 20, LONE_BYTES = 2 << 20 };

static void die(const char *what)
{
	fprintf(stderr, "bench_fast: %s\n", what);
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

/* Input of both decoders. */
struct work {
	struct ptc_decode *d;
	struct ptc_addrspace as;
	struct {
		uint8_t *bytes;
		size_t len;
	} * spans;
	size_t n;
	uint64_t bytes;
};

static void load(struct work *w, const char *path)
{
	size_t i, k;

	*w = (struct work){ .d = fs_load(path) };
	fs_code(w->d, &w->as);
	for (i = 0; i < w->d->in.nlanes; i++) {
		const struct ptc_stream *s = &w->d->in.lanes[i].stream;

		for (k = 0; k < s->n; k++, w->n++) {
			w->spans = reallocarray(w->spans, w->n + 1, sizeof(*w->spans));
			if (!w->spans)
				die("out of memory");
			w->spans[w->n].len = s->spans[k].len;
			w->spans[w->n].bytes = malloc(s->spans[k].len + 1);
			if (!w->spans[w->n].bytes)
				die("out of memory");
			ptc_span_read(&s->spans[k], 0, w->spans[w->n].bytes, s->spans[k].len);
			w->bytes += s->spans[k].len;
		}
	}
}

static void unload(struct work *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->spans[i].bytes);
	free(w->spans);
	ptc_addrspace_release(&w->as);
	ptc_decode_free(w->d);
}

/* Returns the image, updated at the start and after libipt read code that can come from a file. */
static const struct ptc_ipt_image *image_of(struct work *w)
{
	const struct ptc_ipt_image *image;
	struct ptc_err err;

	if (ptc_ipt_image(&w->d->in.ipt, &w->as, PTC_MODE_64, &image, &err) < 0)
		die(err.msg);
	return image;
}

/* Decode blocks from the first PSB on. Returns the number of instructions. */
static uint64_t blocks(struct work *w, struct pt_block_decoder *dec)
{
	const struct ptc_ipt_image *image = image_of(w);
	uint64_t insns = 0;
	struct pt_event ev;
	struct pt_block b;
	int status;

	(void)pt_blk_set_image(dec, image->image);
	status = pt_blk_sync_forward(dec);
	while (status >= 0) {
		while (status >= 0 && status & pts_event_pending)
			status = pt_blk_event(dec, &ev, sizeof(ev));
		if (status < 0)
			break;
		status = pt_blk_next(dec, &b, sizeof(b));
		insns += b.ninsn;
		if (image->nwanted)
			(void)image_of(w);
	}
	if (pt_errcode(status) != pte_eos)
		die("libipt does not come to the end");
	return insns;
}

static __attribute__((noinline)) uint64_t libipt(struct work *w) /* bench/instructions names it */
{
	struct pt_block_decoder *dec;
	struct ptc_err err;
	uint64_t insns = 0;
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (ptc_ipt_decoder(&w->d->in.ipt, w->spans[i].bytes, w->spans[i].len, &dec, &err) <
		    0)
			die(err.msg);
		insns += blocks(w, dec);
		pt_blk_free_decoder(dec);
	}
	return insns;
}

static uint64_t transfers;
static bool counts;

static __attribute__((noinline)) uint64_t fast(struct work *w, struct ptc_fast *f) /* likewise */
{
	enum ptc_fast_status status;
	uint64_t insns = 0;
	size_t i;

	transfers = 0;
	for (i = 0; i < w->n; i++) {
		ptc_fast_begin(f, w->spans[i].bytes, w->spans[i].len,
			       ptc_pkt_next_psb(w->spans[i].bytes, w->spans[i].len, 0));
		do {
			status = ptc_fast_run(f);
			transfers += ptc_fast_flow_passed(&f->flow) - f->flow.last.listed;
			f->flow.ncounted = 0;
			ptc_fast_flow_take(&f->flow, f->flow.nrecs - f->flow.last.listed);
		} while (status == PTC_FAST_AT_PSB);
		if (status == PTC_FAST_DECLINED)
			die(f->flow.why);
		insns += f->flow.insns;
	}
	return insns;
}

struct times {
	double cold[MAX_PAIRS], hot[MAX_PAIRS], theirs[MAX_PAIRS];
};

/* Passes of one decoder, which callgrind counts. */
struct lone {
	size_t passes; /* 0: none, both decoders are measured in pairs */
	bool libipt;
};

/* Leaves only a part of the trace: LONE_BYTES from the middle of the longest stretch. */
static void keep_the_middle(struct work *w)
{
	size_t i, at, best = 0;

	for (i = 1; i < w->n; i++)
		if (w->spans[i].len > w->spans[best].len)
			best = i;
	for (i = 0; i < w->n; i++)
		if (i != best)
			w->spans[i].len = 0;
	if (!w->n || w->spans[best].len <= LONE_BYTES)
		return;
	at = w->spans[best].len / 2 - LONE_BYTES / 2;
	memmove(w->spans[best].bytes, w->spans[best].bytes + at, LONE_BYTES);
	w->spans[best].len = w->bytes = LONE_BYTES;
}

static void run_libipt_alone(struct work *w, size_t passes)
{
	uint64_t insns = 0;
	size_t i;

	keep_the_middle(w);
	fprintf(stderr, "%.3f MB\n", (double)w->bytes / 1e6);
	for (i = 0; i < passes; i++)
		insns = libipt(w);
	fprintf(stderr, "  %" PRIu64 " instructions\n", insns);
}

/* @lone: later passes of the engine alone, without a warm-up. */
static void turn(struct work *w, struct times *t, size_t i, const struct lone *lone)
{
	const bool alone = lone->passes;
	const struct ptc_fast_source source = { fs_read_code, &w->as };
	struct ptc_fast_chains chains;
	struct ptc_fast_code code;
	struct ptc_fast_hand *hand;
	struct ptc_fast f;
	const size_t passes = w->bytes < HOT_BYTES ? HOT_BYTES / w->bytes : 1;
	double from, mid, to;
	uint64_t insns;
	size_t n;
	int k;

	if (!ptc_fast_code_init(&code) || !ptc_fast_chains_init(&chains))
		die("out of memory");
	hand = ptc_fast_hand_new(&code, &source);
	if (!hand)
		die("out of memory");
	ptc_fast_init(&f, hand, &chains);
	f.counts = counts;
	from = cpu_now();
	insns = fast(w, &f);
	t->cold[i] = cpu_now() - from;
	for (n = 1; n < lone->passes; n++)
		(void)fast(w, &f);
	for (k = 0; k < WARM && !alone; k++)
		(void)fast(w, &f);
	mid = cpu_now();
	for (n = 0; n < passes && !alone; n++)
		if (fast(w, &f) != insns)
			die("another pass is another one");
	to = cpu_now();
	t->hot[i] = (to - mid) / (double)passes;
	for (n = 0; n < passes && !alone; n++)
		if (libipt(w) != insns)
			die("libipt sees another number of instructions");
	t->theirs[i] = (cpu_now() - to) / (double)passes;
	if (!i)
		fprintf(stderr,
			"  %" PRIu64 " instructions, %" PRIu64 " transfers, %zu blocks, %" PRIu64
			" chains\n",
			insns, transfers, code.used[PTC_FAST_LIST_BLOCKS], hand->chains);
	fprintf(stderr, "  pair %zu: cold %.6f s, hot %.6f s, libipt %.6f s\n", i + 1, t->cold[i],
		t->hot[i], t->theirs[i]);
	ptc_fast_release(&f);
	ptc_fast_chains_release(&chains);
	ptc_fast_code_release(&code);
}

static void measure(const char *path, size_t pairs, const struct lone *lone)
{
	const bool alone = lone->passes;
	struct times t;
	struct work w;
	double mb, cold, hot, theirs;
	size_t i;

	load(&w, path);
	mb = (double)w.bytes / 1e6;
	fprintf(stderr, "%s: %.1f MB\n", path, mb);
	if (lone->libipt) {
		run_libipt_alone(&w, lone->passes);
		unload(&w);
		return;
	}
	if (!alone)
		(void)libipt(&w);
	for (i = 0; i < pairs; i++)
		turn(&w, &t, i, lone);
	cold = median(t.cold, pairs);
	hot = median(t.hot, pairs);
	theirs = median(t.theirs, pairs);
	fprintf(stderr, "  cold %7.1f MB/s %6.1f M transfers/s, hot %7.1f MB/s %6.1f M transfers/s",
		mb / cold, (double)transfers / 1e6 / cold, mb / hot, (double)transfers / 1e6 / hot);
	if (alone)
		fprintf(stderr, "\n");
	else
		fprintf(stderr, "; libipt %6.1f MB/s: %.1f times, %.1f times\n", mb / theirs,
			theirs / cold, theirs / hot);
	unload(&w);
}

int main(int argc, char **argv)
{
	struct lone lone = { 0 };
	size_t pairs = 5;
	int c;

	while ((c = getopt(argc, argv, "+cl:n:p:")) != -1) {
		if (c == 'c') {
			counts = true;
		} else if (c == 'l' || c == 'n') {
			lone.passes = strtoul(optarg, NULL, 10);
			lone.libipt = c == 'l';
			pairs = lone.passes ? 1 : 0;
		} else if (c == 'p')
			pairs = strtoul(optarg, NULL, 10);
		else
			pairs = 0;
	}
	if (!pairs || pairs > MAX_PAIRS || optind == argc) {
		fprintf(stderr,
			"usage: bench_fast [-c] [-n PASSES | -l PASSES | -p PAIRS] PATH...\n");
		return 2;
	}
	for (; optind < argc; optind++)
		measure(argv[optind], pairs, &lone);
	return 0;
}
