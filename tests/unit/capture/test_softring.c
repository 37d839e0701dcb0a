/* SPDX-License-Identifier: MIT */
/* Description: the producer of a software ring pair, read back by the consumers. */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "auxtrace/record/layout.h"
#include "capture/rings/aux.h"
#include "capture/rings/ring.h"
#include "capture/soft/softring.h"

#define P ((size_t)PTC_AUX_PAGE)

enum { REC = 64, TYPE = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER };

struct pair {
	struct ptc_softring *r;
	struct ptc_ring ring;
	struct ptc_aux aux;
	struct ptc_err err;
};

static void pair_init(struct pair *p, size_t aux_size, bool lossy)
{
	const struct ptc_softring_opts opts = {
		.data_size = P, .aux_size = aux_size, .lossy = lossy, .sample_type = TYPE
	};

	cr_assert_eq(ptc_softring_new(&opts, &p->r, &p->err), 0);
	cr_assert_eq(ptc_ring_init(&p->ring, ptc_softring_page(p->r), P, P, &p->err), 0);
	if (aux_size)
		cr_assert_eq(ptc_aux_init(&p->aux, ptc_softring_page(p->r), ptc_softring_aux(p->r),
					  aux_size, &p->err),
			     0);
}

static int send(struct pair *p, uint8_t mark)
{
	const struct ptc_sample_id id = { .has = TYPE, .time = mark, .id = 5 };
	uint8_t rec[REC] = { PERF_RECORD_SAMPLE, [6] = REC, [8] = mark };

	return ptc_softring_record(p->r, rec, sizeof(rec), &id);
}

static bool woken(const struct pair *p)
{
	struct pollfd fd = { .fd = ptc_softring_fd(p->r), .events = POLLIN };
	eventfd_t n;

	return poll(&fd, 1, 0) == 1 && !eventfd_read(fd.fd, &n);
}

Test(softring, the_page_says_what_the_kernel_would_say)
{
	struct perf_event_mmap_page *page;
	struct pair p;

	pair_init(&p, 2 * P, false);
	page = ptc_softring_page(p.r);
	cr_assert_eq(page->data_offset, P);
	cr_assert_eq(page->data_size, P);
	cr_assert_eq(page->aux_offset, 2 * P);
	cr_assert_eq(page->aux_size, 2 * P);
	cr_assert_eq(ptc_softring_data_size(p.r), P);
	cr_assert_eq(ptc_softring_aux_size(p.r), 2 * P);
	ptc_softring_free(p.r);
}

Test(softring, sizes_that_no_kernel_has_are_refused)
{
	static const struct ptc_softring_opts bad[] = {
		{ .data_size = 0 },
		{ .data_size = P / 2 },
		{ .data_size = 3 * P },
		{ .data_size = P, .aux_size = P / 2 },
		{ .data_size = P, .aux_size = P + 1 },
		{ .data_size = P, .aux_size = P, .aux_watermark = P + 1 },
	};
	struct ptc_softring *r = NULL;
	struct ptc_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(ptc_softring_new(&bad[i], &r, &err), PTC_E_USAGE, "%zu", i);
	cr_assert_null(r);
	ptc_softring_free(NULL);
}

Test(softring, records_come_back_whole)
{
	uint8_t *out = malloc(PTC_REC_MAX + 8);
	struct ptc_seg seg[2];
	struct pair p;
	uint64_t end;
	unsigned int i;

	pair_init(&p, 0, false);
	for (i = 0; i < 3 * P / REC; i++) {
		cr_assert_eq(send(&p, (uint8_t)i), 0);
		cr_assert_eq(ptc_ring_read(&p.ring, seg, &end, &p.err), REC);
		cr_assert_eq(ptc_ring_record(seg, 0, out), REC);
		cr_assert_eq(out[8], (uint8_t)i);
		ptc_ring_done(&p.ring, end);
	}
	free(out);
	ptc_softring_free(p.r);
}

Test(softring, a_lossy_ring_counts_and_says_so_before_the_next_record)
{
	uint8_t *out = malloc(PTC_REC_MAX + 8);
	unsigned int sent = 0, dropped = 0;
	struct ptc_seg seg[2];
	struct pair p;
	struct ptc_cur c;
	struct ptc_sample_id id;
	uint64_t end, v;

	pair_init(&p, 0, true);
	while (send(&p, 1) == 0)
		sent++;
	cr_assert_eq(sent, P / REC - 1, "like the kernel's, the ring is never quite full");
	dropped = 1;
	while (dropped < 10) {
		cr_assert_eq(send(&p, 2), 1);
		dropped++;
	}
	cr_assert_eq(ptc_ring_read(&p.ring, seg, &end, &p.err), (int64_t)sent * REC);
	ptc_ring_done(&p.ring, p.ring.tail + REC);
	cr_assert_eq(send(&p, 3), 0);
	cr_assert_eq(ptc_softring_lost_records(p.r), 10);
	ptc_ring_done(&p.ring, end);
	cr_assert_eq(ptc_ring_read(&p.ring, seg, &end, &p.err), 40 + REC);
	cr_assert_eq(ptc_ring_record(seg, 0, out), 40);
	cr_assert_eq(ptc_le32(out), PERF_RECORD_LOST);
	c = ptc_cur_init(out + 8, 32);
	cr_assert(ptc_cur_le64(&c, &v));
	cr_assert_eq(v, 5, "the event's id");
	cr_assert(ptc_cur_le64(&c, &v));
	cr_assert_eq(v, 10);
	cr_assert(ptc_sample_id_parse(&c, TYPE, &id));
	cr_assert_eq(id.time, 3);
	cr_assert_eq(ptc_ring_record(seg, 40, out), REC);
	cr_assert_eq(out[8], 3);
	free(out);
	ptc_softring_free(p.r);
}

Test(softring, a_loss_that_does_not_fit_with_its_record_grows)
{
	struct ptc_seg seg[2];
	struct pair p;
	uint64_t end;

	pair_init(&p, 0, true);
	while (send(&p, 1) == 0)
		;
	cr_assert_gt(ptc_ring_read(&p.ring, seg, &end, &p.err), 0);
	/*
	 * Space for the record alone is not enough: like the kernel, the ring needs it for both
	 * records at once.
	 */
	ptc_ring_done(&p.ring, 8);
	cr_assert_eq(send(&p, 2), 1);
	cr_assert_eq(ptc_softring_lost_records(p.r), 2);
	ptc_softring_free(p.r);
}

Test(softring, a_record_larger_than_the_ring_is_dropped_not_waited_for)
{
	const struct ptc_sample_id id = { .id = 1 };
	uint8_t *rec = calloc(1, P);
	struct pair p;

	pair_init(&p, 0, false);
	cr_assert_eq(ptc_softring_record(p.r, rec, P, &id), 1);
	cr_assert_eq(ptc_softring_lost_records(p.r), 1);
	free(rec);
	ptc_softring_free(p.r);
}

Test(softring, aux_bytes_show_when_published)
{
	struct ptc_seg seg[2];
	struct pair p;
	uint64_t at;

	pair_init(&p, 2 * P, false);
	cr_assert_eq(ptc_softring_aux_write(p.r, "abc", 3, NULL, NULL), 3);
	cr_assert_eq(ptc_aux_read(&p.aux, seg, &at), 0);
	cr_assert_eq(ptc_softring_aux_head(p.r), 3);
	cr_assert_eq(ptc_softring_aux_published(p.r), 0);
	ptc_softring_aux_publish(p.r);
	cr_assert_eq(ptc_softring_aux_published(p.r), 3);
	cr_assert_eq(ptc_aux_read(&p.aux, seg, &at), 3);
	cr_assert_arr_eq(seg[0].bytes, "abc", 3);
	ptc_softring_free(p.r);
}

Test(softring, lossy_aux_takes_what_fits)
{
	uint8_t *bytes = calloc(1, 3 * P);
	struct pair p;

	pair_init(&p, 2 * P, true);
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, 3 * P, NULL, NULL), 2 * P);
	cr_assert_eq(ptc_softring_lost_aux(p.r), P);
	cr_assert_eq(ptc_softring_aux_head(p.r), 2 * P, "what was dropped has no position");
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, 1, NULL, NULL), 0);
	cr_assert_eq(ptc_softring_lost_aux(p.r), P + 1);
	free(bytes);
	ptc_softring_free(p.r);
}

Test(softring, the_consumer_is_woken_at_the_watermarks_and_on_request)
{
	uint8_t bytes[P / 2] = { 0 };
	struct pair p;
	unsigned int i;

	pair_init(&p, 4 * P, true);
	cr_assert_not(woken(&p));
	cr_assert_eq(send(&p, 1), 0);
	cr_assert_not(woken(&p));
	for (i = 1; i < P / 4 / REC; i++)
		cr_assert_eq(send(&p, 1), 0);
	cr_assert(woken(&p), "a quarter of the data ring");
	cr_assert_not(woken(&p));
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, P / 2, NULL, NULL), P / 2);
	ptc_softring_aux_publish(p.r);
	cr_assert_not(woken(&p));
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, P / 2, NULL, NULL), P / 2);
	ptc_softring_aux_publish(p.r);
	cr_assert(woken(&p), "a quarter of the AUX ring");
	ptc_softring_wake(p.r);
	ptc_softring_wake(p.r);
	cr_assert(woken(&p));
	cr_assert_not(woken(&p), "one read clears all");
	ptc_softring_free(p.r);
}

struct published {
	struct pair *p;
	uint64_t from, to;
	unsigned int calls;
};

static void note_publish(void *ctx, uint64_t from, uint64_t to)
{
	struct published *n = ctx;

	cr_assert_eq(from, ptc_softring_aux_published(n->p->r), "before aux_head is stored");
	n->from = from;
	n->to = to;
	n->calls++;
	/* Stands for a consumer that reacts at once. */
	ptc_softring_close(n->p->r);
}

Test(softring, a_full_lossless_ring_publishes_before_it_waits)
{
	uint8_t *bytes = calloc(1, 3 * P);
	struct pair p;
	struct published n = { .p = &p };

	pair_init(&p, 2 * P, false);
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, 100, note_publish, &n), 100);
	ptc_softring_aux_publish(p.r);
	cr_assert_eq(ptc_softring_aux_write(p.r, bytes, 3 * P, note_publish, &n), 2 * P - 100);
	cr_assert_eq(n.calls, 1);
	cr_assert_eq(n.from, 100);
	cr_assert_eq(n.to, 2 * P);
	cr_assert_eq(ptc_softring_aux_published(p.r), 2 * P);
	free(bytes);
	ptc_softring_free(p.r);
}

static void *send_until_dropped(void *arg)
{
	while (send(arg, 1) == 0)
		;
	return NULL;
}

Test(softring, close_ends_a_wait, .timeout = 600)
{
	struct pollfd fd = { .events = POLLIN };
	pthread_t thread;
	eventfd_t n;
	struct pair p;

	pair_init(&p, 0, false);
	fd.fd = ptc_softring_fd(p.r);
	cr_assert_eq(pthread_create(&thread, NULL, send_until_dropped, &p), 0);
	/* Watermarks wake it first; close must end the producer in any state. */
	cr_assert_eq(poll(&fd, 1, -1), 1);
	cr_assert_eq(eventfd_read(fd.fd, &n), 0);
	ptc_softring_close(p.r);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_eq(ptc_softring_lost_records(p.r), 1);
	cr_assert_eq(send(&p, 1), 1, "and no wait begins again");
	ptc_softring_free(p.r);
}

struct task {
	struct pair *p;
	size_t chunk, total;
};

static void *write_aux(void *arg)
{
	const struct task *t = arg;
	uint8_t *bytes = calloc(1, t->chunk);
	size_t done;

	for (done = 0; done < t->total; done += t->chunk)
		cr_assert_eq(ptc_softring_aux_write(t->p->r, bytes, t->chunk, NULL, NULL),
			     t->chunk);
	ptc_softring_aux_publish(t->p->r);
	ptc_softring_wake(t->p->r);
	free(bytes);
	return NULL;
}

/* Tails return in whole pages, so up to a page of read data still counts as used. */
Test(softring, page_wise_tails_do_not_starve_the_producer, .timeout = 600)
{
	static const size_t chunks[] = { 1, P - 1, P, P + 1, 2 * P - 1, 2 * P, 5 * P + 3 };
	static const size_t sizes[] = { P, 2 * P };
	size_t i, k;

	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
			struct pair p;
			struct task t = { &p, chunks[i], 0 };
			struct pollfd fd = { .events = POLLIN };
			struct ptc_seg seg[2];
			uint64_t got = 0, at;
			pthread_t thread;
			eventfd_t n;

			t.total = (6 * P / t.chunk + 1) * t.chunk;
			pair_init(&p, sizes[k], false);
			fd.fd = ptc_softring_fd(p.r);
			cr_assert_eq(pthread_create(&thread, NULL, write_aux, &t), 0);
			while (got < t.total) {
				uint64_t len;

				cr_assert_eq(poll(&fd, 1, -1), 1);
				cr_assert_eq(eventfd_read(fd.fd, &n), 0);
				len = ptc_aux_read(&p.aux, seg, &at);
				cr_assert_eq(at, got);
				got += len;
				ptc_aux_done(&p.aux, got, false);
				ptc_softring_consumed(p.r);
			}
			cr_assert_eq(pthread_join(thread, NULL), 0);
			cr_assert_eq(got, t.total);
			ptc_softring_free(p.r);
		}
}
