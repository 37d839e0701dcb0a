/* SPDX-License-Identifier: MIT */
/*
 * Description: two threads on one pair of small rings; every loss is counted.
 *
 * The producer writes numbered records of random sizes, and AUX bytes that are a function of their
 * position. The consumer is slow (it works, yields, and sometimes takes only a part) and checks
 * every byte. At the end everything has arrived in order or was counted as lost. A plain program,
 * because Criterion does not start under TSan, and TSan is the purpose of this test.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "auxtrace/record/layout.h"
#include "auxtrace/record/sample.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "capture/rings/aux.h"
#include "capture/rings/ring.h"
#include "capture/soft/softring.h"
#include "plain.h"

enum {
	SAMPLE_TYPE = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
	TRAILER = 16,
	ID = 77,
	BODY_WORDS = 24,   /* longest numbered record */
	OVERFLOW = 2000,   /* records (and about as many AUX writes) that overflow every ring */
	CUTS = BODY_WORDS, /* word positions at which the ring's end cut a record */
};

struct scenario {
	const char *name;
	size_t data_size, aux_size;
	bool lossy;
	uint64_t records;     /* records to send */
	uint64_t close_after; /* the consumer leaves after this many; 0: stays */
};

struct run {
	const struct scenario *sc;
	struct ptc_softring *ring;
	bool finished;	 /* atomic: the producer sets it after its last write */
	bool overflowed; /* atomic: the producer has sent more than a ring holds */

	/* Used by the producer. */
	struct ptc_buf rec;
	uint64_t rng_p, sent, aux_tried;

	/* Used by the consumer. */
	struct ptc_ring data;
	struct ptc_aux aux;
	uint8_t *out;
	uint64_t rng_c, next_seq, received, lost_said, aux_received, aux_rec_end;
	bool cut_seen[CUTS];
};

static uint32_t rnd(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

static uint8_t pattern(uint64_t pos)
{
	return (uint8_t)((pos + 1) * 0x9e3779b97f4a7c15u >> 56);
}

/* --- producer --- */

static void send(struct run *r, uint32_t type, const uint64_t *words, size_t n)
{
	const struct ptc_sample_id id = { .has = SAMPLE_TYPE, .time = r->sent, .id = ID };
	size_t i;

	ptc_buf_reset(&r->rec);
	ptc_buf_le32(&r->rec, type);
	ptc_buf_le16(&r->rec, 0);
	ptc_buf_le16(&r->rec, (uint16_t)(8 + 8 * n + TRAILER));
	for (i = 0; i < n; i++)
		ptc_buf_le64(&r->rec, words[i]);
	ptc_sample_id_put(&r->rec, SAMPLE_TYPE, &id);
	CHECK(!ptc_buf_failed(&r->rec), "out of memory");
	(void)ptc_softring_record(r->ring, r->rec.bytes, r->rec.len, &id);
	r->sent++;
}

static void send_aux_record(void *ctx, uint64_t from, uint64_t to)
{
	const uint64_t words[3] = { from, to - from, 0 };

	send(ctx, PERF_RECORD_AUX, words, 3);
}

static void send_numbered(struct run *r)
{
	const size_t n = rnd(&r->rng_p, BODY_WORDS);
	uint64_t words[BODY_WORDS];
	size_t i;

	for (i = 0; i < n; i++)
		words[i] = (r->sent << 8) + i;
	send(r, PERF_RECORD_SAMPLE, words, n);
}

static void send_aux(struct run *r)
{
	uint8_t bytes[600];
	const size_t len = 1 + rnd(&r->rng_p, sizeof(bytes));
	const uint64_t pos = ptc_softring_aux_head(r->ring);
	size_t i, n;

	for (i = 0; i < len; i++)
		bytes[i] = pattern(pos + i);
	n = ptc_softring_aux_write(r->ring, bytes, len, send_aux_record, r);
	r->aux_tried += len;
	CHECK(n == len || r->sc->lossy || r->sc->close_after, "%s: %zu of %zu bytes", r->sc->name,
	      n, len);
	CHECK(ptc_softring_aux_head(r->ring) == pos + n, "%s", r->sc->name);
	/* A full lossy ring must publish, otherwise the consumer could never empty it. */
	if (n < len || !rnd(&r->rng_p, 4)) {
		const uint64_t from = ptc_softring_aux_published(r->ring);

		if (from != pos + n)
			send_aux_record(r, from, pos + n);
		ptc_softring_aux_publish(r->ring);
	}
}

static void *produce(void *arg)
{
	struct run *r = arg;

	while (r->sent < r->sc->records) {
		if (r->sent >= OVERFLOW)
			__atomic_store_n(&r->overflowed, true, __ATOMIC_RELEASE);
		if (r->sc->aux_size && rnd(&r->rng_p, 2))
			send_aux(r);
		else
			send_numbered(r);
		if (r->sc->lossy && !rnd(&r->rng_p, 16)) {
			ptc_softring_wake(r->ring);
			(void)sched_yield();
		}
	}
	if (r->sc->aux_size)
		ptc_softring_aux_publish(r->ring);
	__atomic_store_n(&r->finished, true, __ATOMIC_RELEASE);
	ptc_softring_wake(r->ring);
	return NULL;
}

/* --- consumer --- */

static void check_record(struct run *r, size_t len)
{
	struct ptc_cur c = ptc_cur_init(r->out + 8, len - 8);
	const uint32_t type = ptc_le32(r->out);
	struct ptc_sample_id id;
	uint64_t a = 0, b = 0, i;

	CHECK(ptc_sample_id_parse(&c, SAMPLE_TYPE, &id) && id.id == ID, "%s: no trailer",
	      r->sc->name);
	switch (type) {
	case PERF_RECORD_LOST:
		CHECK(r->sc->lossy || r->sc->close_after, "%s: lost a record", r->sc->name);
		CHECK(ptc_cur_le64(&c, &a) && ptc_cur_le64(&c, &b) && a == ID, "%s", r->sc->name);
		CHECK(b && id.time == r->next_seq + b,
		      "%s: %" PRIu64 " lost, but record %" PRIu64 " follows %" PRIu64, r->sc->name,
		      b, id.time, r->next_seq);
		r->lost_said += b;
		r->next_seq += b;
		return;
	case PERF_RECORD_AUX:
		CHECK(ptc_cur_le64(&c, &a) && ptc_cur_le64(&c, &b), "%s", r->sc->name);
		CHECK(r->sc->lossy || r->sc->close_after ? a >= r->aux_rec_end :
							   a == r->aux_rec_end,
		      "%s: AUX record at %" PRIu64 " after %" PRIu64, r->sc->name, a,
		      r->aux_rec_end);
		r->aux_rec_end = a + b;
		break;
	default:
		CHECK(type == PERF_RECORD_SAMPLE, "%s: type %" PRIu32, r->sc->name, type);
		for (i = 0; ptc_cur_le64(&c, &a); i++)
			CHECK(a == (r->next_seq << 8) + i,
			      "%s: word %" PRIu64 " of record %" PRIu64 " is %" PRIx64, r->sc->name,
			      i, r->next_seq, a);
		break;
	}
	CHECK(id.time == r->next_seq, "%s: record %" PRIu64 " instead of %" PRIu64, r->sc->name,
	      id.time, r->next_seq);
	r->next_seq++;
	r->received++;
}

static bool drain_records(struct run *r, bool all)
{
	struct ptc_seg seg[2];
	struct ptc_err err;
	uint64_t end;
	const int64_t len = ptc_ring_read(&r->data, seg, &end, &err);
	size_t pos = 0, n;

	CHECK(len >= 0, "%s: %s", r->sc->name, err.msg);
	while ((n = ptc_ring_record(seg, pos, r->out)) > 0) {
		if (pos < seg[0].len && pos + n > seg[0].len && (seg[0].len - pos) / 8 < CUTS)
			r->cut_seen[(seg[0].len - pos) / 8] = true;
		check_record(r, n);
		pos += n;
		if (!all && !rnd(&r->rng_c, 64))
			break; /* the rest comes next time */
	}
	CHECK(pos == (size_t)len || (n && !all), "%s: stuck at %zu of %" PRId64, r->sc->name, pos,
	      len);
	if (pos)
		ptc_ring_done(&r->data, r->data.tail + pos);
	return len > 0;
}

static bool drain_aux(struct run *r, bool all)
{
	struct ptc_seg seg[2];
	uint64_t start, n, i, s;

	if (!r->sc->aux_size)
		return false;
	n = ptc_aux_read(&r->aux, seg, &start);
	CHECK(start == r->aux_received, "%s: AUX at %" PRIu64 " instead of %" PRIu64, r->sc->name,
	      start, r->aux_received);
	if (n > 1 && !all && !rnd(&r->rng_c, 4))
		n = 1 + rnd(&r->rng_c, (uint32_t)n);
	for (s = 0, i = 0; i < n; i++) {
		const size_t at = (size_t)(s ? i - seg[0].len : i);

		if (!s && at == seg[0].len) {
			s = 1;
			i--;
			continue;
		}
		CHECK(((const uint8_t *)seg[s].bytes)[at] == pattern(start + i),
		      "%s: AUX byte %" PRIu64, r->sc->name, start + i);
	}
	r->aux_received += n;
	ptc_aux_done(&r->aux, start + n, all);
	return n > 0;
}

static void dawdle(struct run *r)
{
	volatile uint32_t work = rnd(&r->rng_c, 2000);

	while (work)
		work--;
	if (!rnd(&r->rng_c, 8))
		(void)sched_yield();
}

static void consume(struct run *r)
{
	struct pollfd fd = { .fd = ptc_softring_fd(r->ring), .events = POLLIN };
	bool finished = false;

	/* Waits, so that a lossy run has losses even if this thread is fast. */
	while (r->sc->lossy && !__atomic_load_n(&r->overflowed, __ATOMIC_ACQUIRE))
		(void)sched_yield();
	while (!finished) {
		eventfd_t n;
		bool more;

		CHECK(poll(&fd, 1, -1) == 1, "poll");
		(void)eventfd_read(fd.fd, &n);
		do {
			finished = __atomic_load_n(&r->finished, __ATOMIC_ACQUIRE);
			dawdle(r);
			more = drain_records(r, finished);
			more |= drain_aux(r, finished);
			ptc_softring_consumed(r->ring);
			if (r->sc->close_after && r->received >= r->sc->close_after)
				return;
		} while (more);
	}
}

/* --- scenarios --- */

static void run(const struct scenario *sc)
{
	const struct ptc_softring_opts opts = {
		.data_size = sc->data_size,
		.aux_size = sc->aux_size,
		.lossy = sc->lossy,
		.sample_type = SAMPLE_TYPE,
	};
	struct run r = { .sc = sc, .rec = PTC_BUF_INIT, .rng_p = 1, .rng_c = 2 };
	uint64_t lost;
	struct ptc_err err;
	pthread_t producer;
	bool more;
	size_t i;

	CHECK(!ptc_softring_new(&opts, &r.ring, &err), "%s: %s", sc->name, err.msg);
	CHECK(!ptc_ring_init(&r.data, ptc_softring_page(r.ring), PTC_AUX_PAGE, sc->data_size, &err),
	      "%s: %s", sc->name, err.msg);
	if (sc->aux_size)
		CHECK(!ptc_aux_init(&r.aux, ptc_softring_page(r.ring), ptc_softring_aux(r.ring),
				    sc->aux_size, &err),
		      "%s: %s", sc->name, err.msg);
	r.out = malloc(PTC_REC_MAX + 8);
	CHECK(r.out, "out of memory");
	CHECK(!pthread_create(&producer, NULL, produce, &r), "pthread_create");
	consume(&r);
	if (sc->close_after)
		ptc_softring_close(r.ring);
	CHECK(!pthread_join(producer, NULL), "pthread_join");
	do {
		more = drain_records(&r, true);
		more |= drain_aux(&r, true);
	} while (more);

	lost = ptc_softring_lost_records(r.ring);
	CHECK(r.received + lost == r.sent,
	      "%s: sent %" PRIu64 ", received %" PRIu64 ", lost %" PRIu64, sc->name, r.sent,
	      r.received, lost);
	CHECK(r.lost_said <= lost, "%s: LOST records tell of too many", sc->name);
	CHECK(r.received + r.lost_said == r.next_seq, "%s: the count is off", sc->name);
	if (sc->aux_size) {
		const uint64_t lost_aux = ptc_softring_lost_aux(r.ring);

		CHECK(!r.aux.lost, "%s: AUX bytes were overwritten", sc->name);
		CHECK(r.aux_received == ptc_softring_aux_head(r.ring), "%s", sc->name);
		CHECK(r.aux_received + lost_aux == r.aux_tried, "%s", sc->name);
		CHECK(sc->lossy || sc->close_after || !lost_aux, "%s: lost AUX bytes", sc->name);
		CHECK(!sc->lossy || lost_aux, "%s: no AUX loss, so nothing was shown", sc->name);
	}
	CHECK(sc->lossy || sc->close_after || !lost, "%s: lost records", sc->name);
	CHECK((!sc->lossy && !sc->close_after) || lost, "%s: no loss, so nothing was shown",
	      sc->name);
	for (i = 1; i < 8 && !sc->lossy && !sc->close_after; i++)
		CHECK(r.cut_seen[i], "%s: no record was cut after %zu bytes", sc->name, 8 * i);
	printf("%-24s %8" PRIu64 " records, %" PRIu64 " lost; %10" PRIu64 " AUX bytes\n", sc->name,
	       r.received, lost, r.aux_received);
	free(r.out);
	ptc_buf_release(&r.rec);
	ptc_softring_free(r.ring);
}

int main(void)
{
	static const struct scenario scenarios[] = {
		{ "records only", 4096, 0, false, 60000, 0 },
		{ "AUX of one page", 4096, 4096, false, 20000, 0 },
		{ "AUX of two pages", 4096, 8192, false, 20000, 0 },
		{ "larger rings", 16384, 65536, false, 40000, 0 },
		{ "lossy", 4096, 8192, true, 60000, 0 },
		{ "lossy, larger", 16384, 32768, true, 60000, 0 },
		{ "the consumer leaves", 4096, 8192, false, 20000, 5000 },
	};
	size_t i;

	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		run(&scenarios[i]);
	return 0;
}
