/* SPDX-License-Identifier: MIT */
/*
 * Description: a ring is overwritten three thousand times while snapshots are taken at random
 * times. Each snapshot is the end of the written stream, byte for byte, from a PSB on.
 *
 * The producer writes a stream that is a function of its position, and stops on request. The
 * consumer does not know how much was written or how often the ring wrapped. A plain program, for
 * TSan.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "capture/rings/aux_snapshot.h"
#include "capture/rings/first_psb.h"
#include "capture/soft/softring.h"
#include "plain.h"

enum {
	SIZE = 8192,
	LAPS = 3000,
	SNAPSHOTS = 300,
	ALONE = 20 * SIZE, /* bytes */
	PERIOD = 1016,
	PIECE_MAX = 600,
	HEAD = PTC_PSB_LEN + 8 + 2
};
enum { GOES_ON, ASKED, PAUSED }; /* writer: the producer, still the producer, nobody */

/* The period that was made last. Each thread has its own copy. */
struct maker {
	uint8_t bytes[PERIOD];
	uint64_t next; /* its number plus 1; 0: none */
};

struct run {
	struct ptc_softring *ring;
	atomic_int pause;
	atomic_bool over;
	uint64_t made; /* by the producer; readable while it is paused */
	uint8_t *stream, *out;
	struct maker maker; /* used by the consumer */
};

/* PSB, the period's number as its time, PSBEND, then TNT packets made from that number. */
static void put_period(uint8_t *p, uint64_t n)
{
	uint64_t mix = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i;

	for (i = 0; i < PTC_PSB_LEN; i++)
		p[i] = i % 2 ? 0x82 : 0x02;
	p[PTC_PSB_LEN] = 0x19;
	for (i = 0; i < 7; i++)
		p[PTC_PSB_LEN + 1 + i] = (uint8_t)(n >> (8 * i));
	p[HEAD - 2] = 0x02;
	p[HEAD - 1] = 0x23;
	for (i = HEAD; i < PERIOD; i++) {
		mix = mix * UINT64_C(6364136223846793005) + 1442695040888963407;
		p[i] = (uint8_t)(0x40 | (mix >> 58 << 1)); /* TNT: even, not 0 or 2 */
	}
}

/* Makes the @len bytes of the stream at @at. */
static void make(struct maker *m, uint8_t *out, uint64_t at, size_t len)
{
	size_t n;

	for (; len; at += n, out += n, len -= n) {
		const size_t in = (size_t)(at % PERIOD);

		n = PERIOD - in < len ? PERIOD - in : len;
		if (m->next != at / PERIOD + 1)
			put_period(m->bytes, at / PERIOD);
		m->next = at / PERIOD + 1;
		memcpy(out, m->bytes + in, n);
	}
}

static uint32_t rnd(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

static void stand_still(struct run *r)
{
	ptc_softring_aux_publish(r->ring);
	atomic_store(&r->pause, PAUSED);
	while (atomic_load(&r->pause) == PAUSED)
		(void)sched_yield();
}

static void *produce(void *arg)
{
	struct run *r = arg;
	struct maker maker = { .next = 0 };
	uint8_t bytes[PIECE_MAX];
	uint64_t seed = 7;

	while (!atomic_load(&r->over)) {
		const size_t n = rnd(&seed, PIECE_MAX);

		make(&maker, bytes, r->made, n);
		CHECK(ptc_softring_aux_write(r->ring, bytes, n, NULL, NULL) == n, "%zu", n);
		r->made += n;
		if (atomic_load(&r->pause) == ASKED)
			stand_still(r);
		else if (r->made / ALONE != (r->made - n) / ALONE)
			(void)sched_yield(); /* the consumer may have no CPU */
	}
	return NULL;
}

/* Checks a snapshot while the ring stands still. */
static void check(struct run *r, struct ptc_snapshot *s, uint64_t max, uint64_t *last)
{
	const struct ptc_time_conv ticks = { .mult = 1 };
	const uint64_t pos = s->pos;
	struct ptc_seg seg[2];
	struct ptc_begin b;
	uint64_t start, len, fresh;

	fresh = ptc_snapshot_read(s, 0, seg, &start);
	CHECK(start != pos || fresh == r->made - *last, "it does not go on: %" PRIu64, fresh);
	CHECK(fresh <= r->made - *last, "%" PRIu64 " bytes are given twice", fresh);
	*last = r->made;
	len = ptc_snapshot_window(s, max, seg, &start);
	CHECK(len >= (r->made < SIZE ? r->made : SIZE) || max, "%" PRIu64 " bytes only", len);
	memcpy(r->out, seg[0].bytes, seg[0].len);
	memcpy(r->out + seg[0].len, seg[1].bytes, seg[1].len);
	make(&r->maker, r->stream, r->made - len, (size_t)len);
	CHECK(!memcmp(r->out, r->stream, (size_t)len), "other bytes than the last %" PRIu64, len);
	b = ptc_begin_find(r->out, (size_t)len, &ticks, r->made, 0);
	CHECK(len < PERIOD + PTC_PSB_LEN || b.at < PERIOD, "no PSB up to %zu", b.at);
	if (b.at < len && len - b.at >= HEAD)
		CHECK((r->made - len + b.at) % PERIOD == 0 &&
			      b.time == (r->made - len + b.at) / PERIOD,
		      "%zu is not where the PSB is", b.at);
}

static uint64_t consume(struct run *r, struct ptc_snapshot *s)
{
	uint64_t seed = 3, taken = 0, last = 0;
	bool over = false;

	while (!over) {
		uint32_t wait = rnd(&seed, 4) ? rnd(&seed, 4) : rnd(&seed, 200);

		while (wait--)
			(void)sched_yield();
		atomic_store(&r->pause, ASKED);
		while (atomic_load(&r->pause) != PAUSED)
			(void)sched_yield();
		check(r, s, rnd(&seed, 3) ? 0 : 1 + rnd(&seed, SIZE), &last);
		taken++;
		over = r->made >= (uint64_t)LAPS * SIZE && taken >= SNAPSHOTS;
		atomic_store(&r->over, over);
		atomic_store(&r->pause, GOES_ON);
	}
	return taken;
}

int main(void)
{
	const struct ptc_softring_opts opts = { .data_size = 4096,
						.aux_size = SIZE,
						.overwrite = true };
	struct run r = { .stream = malloc(SIZE), .out = malloc(SIZE) };
	struct ptc_snapshot snap;
	struct ptc_err err;
	pthread_t thread;
	uint64_t taken;

	CHECK(r.stream && r.out, "no memory");
	CHECK(!ptc_softring_new(&opts, &r.ring, &err), "%s", err.msg);
	CHECK(!ptc_snapshot_init(&snap, ptc_softring_page(r.ring), ptc_softring_aux(r.ring), SIZE,
				 &err),
	      "%s", err.msg);
	CHECK(!pthread_create(&thread, NULL, produce, &r), "no thread");
	taken = consume(&r, &snap);
	(void)pthread_join(thread, NULL);
	printf("%" PRIu64 " snapshots of a ring that was written %" PRIu64 " times over\n", taken,
	       r.made / SIZE);
	ptc_snapshot_release(&snap);
	ptc_softring_free(r.ring);
	free(r.stream);
	free(r.out);
	return 0;
}
