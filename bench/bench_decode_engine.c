/* SPDX-License-Identifier: MIT */
/* The library's decoding, beside a bare loop around libipt's block decoder. */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_decode.h"
#include "decode/session/decoder.h"

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

	bd_must(ptc_pass_run(&d->pass, &sink, &err), &err);
	c.s = cpu_now() - t;
	c.insns = d->pass.stats.insns;
	bd_must(ptc_pass_rewind(&d->pass, &err), &err);
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

	bd_must(ptc_ipt_image(c->ipt, c->as, PTC_MODE_64, &c->image, &err), &err);
}

/*
 * Returns the process with the most code, in its final state. The recording must have no other
 * relevant process.
 */
static struct code last_code(struct ptc_decode *d)
{
	struct code code = { .ipt = &d->in.ipt };
	struct ptc_addrspace *as = NULL;
	struct ptc_err err;
	size_t i;

	while (ptc_sideband_peek(&d->in.sideband, UINT64_MAX))
		bd_must(ptc_sideband_apply(&d->in.sideband, &d->in.procs, &err), &err);
	for (i = 0; i < d->in.procs.nprocs; i++)
		if (!as || ptc_ranges_count(&d->in.procs.procs[i]->as.ranges) >
				   ptc_ranges_count(&as->ranges))
			as = &d->in.procs.procs[i]->as;
	if (!as)
		bd_die("the recording has no process");
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
		bd_must(ptc_ipt_decoder(&d->in.ipt, traces[i].bytes, traces[i].len, &dec, &err),
			&err);
		(void)pt_blk_set_image(dec, code.image->image);
		t = cpu_now();
		while (run_blocks(dec, &code, &c) != -pte_eos)
			;
		c.s += cpu_now() - t;
		pt_blk_free_decoder(dec);
	}
	bd_must(ptc_pass_rewind(&d->pass, &err), &err);
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
	config.mtc_freq = d->in.ipt.params.mtc_freq;
	config.nom_freq = d->in.ipt.params.nom_freq;
	for (i = 0; i < n; i++) {
		config.begin = traces[i].bytes;
		config.end = traces[i].bytes + traces[i].len;
		dec = pt_pkt_alloc_decoder(&config);
		if (!dec || pt_pkt_sync_forward(dec) < 0)
			bd_die("no packets");
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
	for (i = 0; i < d->in.nlanes; i++) {
		const struct ptc_stream *s = &d->in.lanes[i].stream;

		for (k = 0; k < s->n; k++, n++) {
			traces = reallocarray(traces, n + 1, sizeof(*traces));
			if (!traces)
				bd_die("out of memory");
			traces[n].len = s->spans[k].len;
			traces[n].bytes = malloc(traces[n].len + 1);
			if (!traces[n].bytes)
				bd_die("out of memory");
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

void bench_engine(const char *path, size_t pairs)
{
	double a[MAX_PAIRS], b[MAX_PAIRS], ratio[MAX_PAIRS], x, y, mid, begin;
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct count theirs = { .hash = 0 }, us = theirs;
	struct ptc_decode *d;
	struct trace *traces;
	struct ptc_err err;
	uint64_t bytes;
	size_t i, n;

	opts.engine = !strcmp(bd_engine, "fast") ? PTC_ENGINE_FAST : PTC_ENGINE_LIBIPT;
	bd_must(ptc_decode_open(path, &opts, &d, &err), &err);
	traces = copy_traces(d, &n, &bytes);
	(void)ours(d); /* warm up the section cache for both */
	begin = bd_wall_now();
	for (i = 0; bd_goes_on(i, pairs, begin); i++) {
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
	x = bd_median(a, pairs);
	y = bd_median(b, pairs);
	mid = bd_median(ratio, pairs);
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
