/* SPDX-License-Identifier: MIT */
/*
 * Compares both engines over the same trace, branch by branch.
 *
 * fastcmp [-d] PATH
 *
 * PATH is a recording of one process whose code does not change, or a folder with a bare trace. The
 * first difference is printed with the packets before the second engine's position, and gives exit
 * status 1. Without -d, so does a trace that the second engine declines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/image/addrspace.h"
#include "decode/session/decoder.h"
#include "lib_fast.h"

enum { AROUND = 24 }; /* number of packets shown */

/* One queue. */
struct lane {
	const struct ptc_stream *stream;
	size_t span;	/* the next span */
	uint8_t *bytes; /* owned; of the previous span */
	struct fs_pull pull;
	bool open;
	struct ptc_fast_rec next;
	bool more; /* next is valid */
	bool over; /* it declined: no more comparison */
};

struct both {
	struct ptc_addrspace as;
	struct lane *lanes;
	uint64_t same, not_compared, gaps;
	bool differ;
};

static void show_packets(const struct ptc_fast *f)
{
	size_t at, from[AROUND], n = 0, i;
	enum ptc_pkt type;
	int len;

	for (at = ptc_pkt_next_psb(f->bytes, f->len, 0); at < f->len && at <= f->pos;
	     at += (size_t)len) {
		len = ptc_pkt_len(f->bytes + at, f->len - at, &type);
		if (len <= 0)
			break;
		if (type != PTC_PKT_PAD)
			from[n++ % AROUND] = at;
	}
	for (i = n > AROUND ? n - AROUND : 0; i < n; i++) {
		at = from[i % AROUND];
		len = ptc_pkt_len(f->bytes + at, f->len - at, &type);
		printf("  %8zx %-8s", at, ptc_pkt_name(type));
		while (len-- > 0)
			printf(" %02x", f->bytes[at++]);
		printf("\n");
	}
}

static void tell(const struct lane *l, const char *what)
{
	const struct ptc_fast *f = &l->pull.fast;

	printf("%s at 0x%zx of span %zu: %s\n", what, f->pos, l->span - 1,
	       f->flow.why ? f->flow.why : "");
	show_packets(f);
}

static void close_span(struct lane *l)
{
	if (l->open)
		fs_close(&l->pull);
	l->open = false;
	free(l->bytes);
	l->bytes = NULL;
}

/* Gets the next record, of this span or of a later span. */
static void advance(struct both *b, struct lane *l)
{
	const struct ptc_span *sp;

	for (;;) {
		l->more = l->open && fs_next(&l->pull, &l->next);
		if (l->more)
			return;
		if (l->open && l->pull.status == PTC_FAST_DECLINED) {
			tell(l, "declined");
			l->over = true;
			return;
		}
		close_span(l);
		if (l->span == l->stream->n)
			return;
		sp = &l->stream->spans[l->span++];
		l->bytes = malloc(sp->len + 1);
		if (!l->bytes)
			abort();
		ptc_span_read(sp, 0, l->bytes, sp->len);
		fs_open(&l->pull, &b->as, l->bytes, sp->len);
		l->open = true;
	}
}

static void show_rec(const char *who, struct ptc_fast_rec r)
{
	printf("  %-7s %" PRIx64 " %" PRIx64 " %s\n", who, ptc_fast_rec_from(r), r.to,
	       ptc_kind_name(ptc_fast_rec_kind(r)));
}

static void compare(struct both *b, struct lane *l, struct ptc_fast_rec rec)
{
	if (l->over) {
		b->not_compared++;
		return;
	}
	if (l->more && fs_same(rec, l->next)) {
		b->same++;
		advance(b, l);
		return;
	}
	printf("after %" PRIu64 " that are the same:\n", b->same);
	show_rec("libipt", rec);
	if (l->more)
		show_rec("fast", l->next);
	tell(l, "different");
	b->differ = true;
	l->over = true;
}

static int take_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct both *b = ctx;
	struct ptc_fast_rec rec;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].type == PTC_ITEM_GAP)
			b->gaps++;
		if (fs_of_item(&items[i], &rec))
			compare(b, &b->lanes[items[i].queue], rec);
	}
	return 0;
}

/* Lanes are indexed by the number of their queue. */
static size_t open_lanes(struct both *b, const struct ptc_decode *d)
{
	size_t i, n = 1;

	for (i = 0; i < d->in.nlanes; i++)
		if (d->in.lanes[i].idx >= n)
			n = d->in.lanes[i].idx + 1;
	b->lanes = calloc(n, sizeof(*b->lanes));
	if (!b->lanes)
		abort();
	for (i = 0; i < d->in.nlanes; i++) {
		b->lanes[d->in.lanes[i].idx].stream = &d->in.lanes[i].stream;
		advance(b, &b->lanes[d->in.lanes[i].idx]);
	}
	return n;
}

static bool end_lanes(struct both *b, size_t n)
{
	bool declined = false;
	size_t i;

	for (i = 0; i < n; i++) {
		struct lane *l = &b->lanes[i];

		if (l->more && !l->over) {
			show_rec("libipt has no", l->next);
			tell(l, "more");
			b->differ = true;
		}
		declined |= l->over;
		close_span(l);
	}
	free(b->lanes);
	return declined;
}

int main(int argc, char **argv)
{
	const bool may_decline = argc == 3 && !strcmp(argv[1], "-d");
	struct both both = { .same = 0 };
	const struct ptc_sink sink = { take_items, &both };
	struct ptc_decode *d;
	struct ptc_err err;
	bool declined;
	size_t n;

	if (argc != 2 && !may_decline) {
		(void)fprintf(stderr, "usage: fastcmp [-d] PATH\n");
		return 2;
	}
	d = fs_load(argv[argc - 1]);
	fs_code(d, &both.as);
	n = open_lanes(&both, d);
	if (ptc_pass_run(&d->pass, &sink, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	declined = end_lanes(&both, n);
	printf("%" PRIu64 " the same, %" PRIu64 " not compared, %" PRIu64 " gaps\n", both.same,
	       both.not_compared, both.gaps);
	ptc_addrspace_release(&both.as);
	ptc_decode_free(d);
	return both.differ || (declined && !may_decline);
}
