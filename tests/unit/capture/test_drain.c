/* SPDX-License-Identifier: MIT */
/*
 * Description: the rings of a fake source are drained fairly and completely, and the ledger is
 * right. A full ring is reported once it is empty. On a full disk later data is lost and reported.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/reader/reader.h"
#include "auxtrace/record/sideband.h"
#include "capture/session/drain.h"
#include "fake_ring.h"
#include "fewer.h"

#define P ((size_t)4096)

enum { RINGS = 3, DATA = 64 << 10, AUX = 4 * PTC_DRAIN_QUANTUM, PSB_EVERY = 4095 };

static const uint8_t psb[16] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* A source whose producer is the test. */
struct fake {
	struct ptc_source base;
	struct ptc_source_ring rings[RINGS];
	size_t n;
	unsigned int drained[RINGS], stopped[RINGS];
	unsigned int turn[RINGS], turns; /* turn in which each was last drained */
};

static struct fake *of(struct ptc_source *s)
{
	return (struct fake *)s;
}

static size_t fake_rings(struct ptc_source *s, const struct ptc_source_ring **ret)
{
	*ret = of(s)->rings;
	return of(s)->n;
}

static void fake_drained(struct ptc_source *s, size_t i, bool stopped)
{
	struct fake *f = of(s);

	f->drained[i]++;
	f->stopped[i] += stopped;
	f->turn[i] = ++f->turns;
	if (stopped) /* the ring restarts: all space must be free */
		cr_assert_lt(f->rings[i].page->aux_head - f->rings[i].page->aux_tail, P);
}

static void fake_account(struct ptc_source *s, size_t i, struct ptc_ledger_ring *ret)
{
	(void)s;
	ret->restarts = 100 + i;
}

static const struct ptc_source_ops ops = { .rings = fake_rings,
					   .drained = fake_drained,
					   .account = fake_account };

struct scene {
	struct fake fake;
	struct ptc_drain drain;
	struct ptc_record_opts opts;
	struct ptc_writer *writer;
	char path[64];
	struct ptc_err err;
};

static void scene_init(struct scene *s, size_t n, bool snapshot)
{
	const struct perf_event_attr attr = { .type = 8, .sample_id_all = 1 };
	const uint64_t id = 1;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->fake.base.ops = &ops;
	s->fake.n = n;
	for (i = 0; i < n; i++)
		s->fake.rings[i] = fake_ring(i, DATA, AUX);
	s->opts.snapshot.enabled = snapshot;
	(void)snprintf(s->path, sizeof(s->path), "/tmp/ptcap-drain-%d", (int)getpid());
	cr_assert_eq(ptc_drain_init(&s->drain, &s->fake.base, &s->opts, &s->err), 0);
	cr_assert_eq(ptc_writer_new(s->path, &s->writer, &s->err), 0);
	cr_assert_eq(ptc_writer_attr(s->writer, &attr, "x", &id, 1, &s->err), 0);
	s->drain.writer = s->writer;
	s->drain.whole_packets = true;
}

static void scene_release(struct scene *s)
{
	size_t i;

	ptc_drain_release(&s->drain);
	ptc_writer_free(s->writer);
	for (i = 0; i < s->fake.n; i++) {
		free(s->fake.rings[i].page);
		free(s->fake.rings[i].aux);
	}
	(void)unlink(s->path);
}

/* The ring of an offline CPU has no pages. */
static void take_pages(struct scene *s, size_t i, struct ptc_source_ring *ret)
{
	*ret = s->fake.rings[i];
	s->fake.rings[i].page = NULL;
	s->fake.rings[i].aux = NULL;
	ptc_drain_release(&s->drain);
	cr_assert_eq(ptc_drain_init(&s->drain, &s->fake.base, &s->opts, &s->err), 0);
	s->drain.writer = s->writer;
}

/* Like a PMU's output: regular PSBs, and between them bytes that form no PSB. */
static void trace(size_t ring, uint64_t at, uint8_t *out, size_t len)
{
	static uint8_t others[64 + PSB_EVERY];
	size_t in, n;

	for (n = 0; n < sizeof(others) && !others[sizeof(others) - 1]; n++)
		others[n] = (uint8_t)(0x10 + (n & 0x3f));
	for (; len; at += n, out += n, len -= n) {
		in = at % PSB_EVERY;
		n = len < PSB_EVERY - in ? len : PSB_EVERY - in;
		memcpy(out, others + ((at / PSB_EVERY + ring) & 0x3f) + in, n);
		if (in < sizeof(psb))
			memcpy(out, psb + in, n < sizeof(psb) - in ? n : sizeof(psb) - in);
	}
}

static void produce(struct scene *s, size_t i, uint64_t n)
{
	struct ptc_source_ring *r = &s->fake.rings[i];
	uint64_t at, k;

	for (; n; n -= k) {
		at = r->page->aux_head % AUX;
		k = n < AUX - at ? n : AUX - at;
		trace(i, r->page->aux_head, (uint8_t *)r->aux + at, k);
		r->page->aux_head += k;
	}
}

static void put_aux_record(struct scene *s, size_t i, uint64_t flags)
{
	struct ptc_source_ring *r = &s->fake.rings[i];
	const struct ptc_sb sb = { .type = PERF_RECORD_AUX, .u.aux.flags = flags };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t k;

	ptc_sb_put(&b, &sb, 0);
	for (k = 0; k < b.len; k++)
		((uint8_t *)r->page + P)[(r->page->data_head + k) % DATA] = b.bytes[k];
	r->page->data_head += b.len;
	ptc_buf_release(&b);
}

static bool round_of(struct scene *s)
{
	bool more;

	cr_assert_eq(ptc_drain_round(&s->drain, false, false, &more, &s->err), 0, "%s", s->err.msg);
	return more;
}

/* Checks that each chunk begins where the previous one ended and has the bytes produced there. */
static void check_file(struct scene *s, const uint64_t *stored)
{
	uint64_t at[RINGS] = { 0 }, pos = 0;
	struct ptc_file *f;
	struct ptc_rec rec;
	size_t i, k;

	cr_assert_eq(ptc_writer_commit(s->writer, &s->err), 0, "%s", s->err.msg);
	s->writer = NULL;
	cr_assert_eq(ptc_file_open(s->path, &f, &s->err), 0, "%s", s->err.msg);
	while (ptc_file_next(f, &pos, &rec, &s->err) > 0) {
		struct ptc_auxtrace a;
		struct ptc_cur bytes;
		uint8_t *want;

		if (rec.type != PTC_REC_AUXTRACE)
			continue;
		cr_assert_eq(ptc_file_auxtrace(f, &rec, &a, &bytes, &s->err), 0);
		cr_assert_eq(a.offset, at[a.idx], "queue %u", a.idx);
		k = stored[a.idx] - at[a.idx];
		k = k < a.size ? k : a.size;
		want = malloc(k ? k : 1);
		cr_assert(want);
		trace(a.idx, at[a.idx], want, k);
		cr_assert_eq(memcmp(bytes.pos, want, k), 0);
		at[a.idx] += k;
		free(want);
	}
	for (i = 0; i < RINGS && i < s->fake.n; i++)
		cr_assert_eq(at[i], stored[i]);
	ptc_file_free(f);
}

Test(drain, no_ring_waits_for_another_that_is_full)
{
	const uint64_t made[RINGS] = { AUX, 5000, AUX / 2 };
	struct scene s;
	unsigned int rounds = 1;
	size_t i;

	scene_init(&s, RINGS, false);
	for (i = 0; i < RINGS; i++)
		produce(&s, i, made[i]);
	cr_assert(round_of(&s));
	cr_assert_eq(s.drain.ledger[1].aux_stored, 5000, "the small one had all of its turn");
	for (i = 0; i < RINGS; i += 2) {
		const uint64_t got = s.drain.ledger[i].aux_stored;

		cr_assert_geq(got, PTC_DRAIN_QUANTUM);
		cr_assert_leq(got, PTC_DRAIN_QUANTUM + 8 * PSB_EVERY);
		cr_assert_eq(got % PSB_EVERY, 0, "a packet is cut");
		cr_assert_eq(got % 8, 0, "a piece is padded");
	}
	while (round_of(&s))
		rounds++;
	cr_assert_leq(rounds, AUX / PTC_DRAIN_QUANTUM + 1);
	ptc_drain_close(&s.drain);
	for (i = 0; i < RINGS; i++) {
		const struct ptc_ledger_ring *l = &s.drain.ledger[i];

		cr_assert(l->idx == i && l->cpu == (int64_t)i && l->tid == -1);
		cr_assert(l->aux_made == made[i] && l->aux_read == made[i] &&
			  l->aux_stored == made[i] && !l->aux_overrun);
		cr_assert_eq(l->restarts, 100 + i, "the source knows better");
		cr_assert_eq(s.fake.rings[i].page->aux_tail, made[i] - made[i] % P);
	}
	check_file(&s, made);
	scene_release(&s);
}

Test(drain, whose_turn_is_first_changes)
{
	bool first[RINGS] = { false };
	struct scene s;
	size_t i, k;

	scene_init(&s, RINGS, false);
	for (k = 0; k < RINGS; k++) {
		(void)round_of(&s);
		for (i = 0; i < RINGS; i++)
			first[i] |= s.fake.turn[i] == k * RINGS + 1;
	}
	for (i = 0; i < RINGS; i++)
		cr_assert(first[i] && s.fake.drained[i] == RINGS);
	scene_release(&s);
}

Test(drain, a_wrapped_ring_is_cut_in_either_piece)
{
	uint64_t made = 0, total[RINGS] = { 0 }, seed = 5;
	struct scene s;
	size_t k;

	scene_init(&s, 2, false);
	for (k = 0; k < FEWER(60, 25); k++) {
		const uint64_t room = AUX - (made - s.fake.rings[0].page->aux_tail);
		uint64_t n;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		n = (seed >> 33) % (room + 1) / 8 * 8; /* chunks are padded to 8 */
		produce(&s, 0, n);
		made += n;
		while (round_of(&s) && k % 3)
			;
	}
	while (round_of(&s))
		;
	total[0] = made;
	cr_assert_gt(made, FEWER(4, 2) * (uint64_t)AUX, "it came round");
	check_file(&s, total);
	scene_release(&s);
}

Test(drain, what_has_no_packets_that_we_know_is_not_cut)
{
	struct scene s;

	scene_init(&s, 2, false);
	s.drain.whole_packets = false;
	produce(&s, 0, AUX);
	cr_assert_not(round_of(&s));
	cr_assert_eq(s.drain.ledger[0].aux_stored, AUX);
	scene_release(&s);
}

Test(drain, a_trace_that_stopped_goes_on_once_its_ring_is_empty)
{
	struct scene s;

	scene_init(&s, 2, false);
	produce(&s, 0, AUX - 3 * P);
	put_aux_record(&s, 0, PERF_AUX_FLAG_TRUNCATED);
	produce(&s, 1, 100);
	put_aux_record(&s, 1, 0);
	cr_assert(round_of(&s));
	cr_assert_eq(s.fake.stopped[0], 0, "there is more to be read");
	while (round_of(&s))
		cr_assert_eq(s.fake.stopped[0], 0);
	cr_assert(s.fake.stopped[0] == 1 && s.fake.stopped[1] == 0);
	(void)round_of(&s);
	cr_assert_eq(s.fake.stopped[0], 1, "once");
	produce(&s, 1, 16);
	put_aux_record(&s, 1, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL);
	put_aux_record(&s, 1, PERF_AUX_FLAG_COLLISION);
	(void)round_of(&s);
	cr_assert_eq(s.fake.stopped[1], 1);
	cr_assert(s.drain.ledger[1].truncated == 1 && s.drain.ledger[1].partial == 1 &&
		  s.drain.ledger[1].collisions == 1 && s.drain.ledger[0].truncated == 1);
	/* A restart that finds no free space makes no record. */
	produce(&s, 0, AUX - P - s.fake.rings[0].page->aux_head % P);
	while (round_of(&s))
		;
	cr_assert_eq(s.fake.stopped[0], 2);
	scene_release(&s);
}

Test(drain, what_was_overwritten_is_counted)
{
	struct scene s;

	scene_init(&s, 1, false);
	produce(&s, 0, AUX + 3 * P);
	while (round_of(&s))
		;
	ptc_drain_close(&s.drain);
	cr_assert(s.drain.ledger[0].aux_overrun == 3 * P && s.drain.ledger[0].aux_read == AUX &&
		  s.drain.ledger[0].aux_made == AUX + 3 * P);
	scene_release(&s);
}

/*
 * The producer may overwrite returned space at once, so space is returned only after it is in the
 * file.
 */
Test(drain, nothing_is_given_back_that_could_not_be_written)
{
	const struct rlimit r = { 64 << 10, RLIM_INFINITY };
	struct scene s;
	bool more;

	scene_init(&s, 1, false);
	produce(&s, 0, AUX);
	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
	cr_assert_eq(ptc_drain_round(&s.drain, false, false, &more, &s.err), PTC_E_IO);
	cr_assert_eq(s.fake.rings[0].page->aux_tail, 0);
	scene_release(&s);
}

/* The AUX record precedes its trace in the file. */
Test(drain, the_record_comes_before_its_trace)
{
	struct ptc_file *f;
	struct ptc_rec rec;
	uint64_t pos = 0;
	bool told = false;
	struct scene s;

	scene_init(&s, 1, false);
	produce(&s, 0, 64);
	put_aux_record(&s, 0, 0);
	(void)round_of(&s);
	cr_assert_eq(ptc_writer_commit(s.writer, &s.err), 0);
	s.writer = NULL;
	cr_assert_eq(ptc_file_open(s.path, &f, &s.err), 0);
	while (ptc_file_next(f, &pos, &rec, &s.err) > 0) {
		cr_assert(rec.type != PTC_REC_AUXTRACE || told);
		told |= rec.type == PERF_RECORD_AUX;
	}
	cr_assert(told);
	ptc_file_free(f);
	scene_release(&s);
}

Test(drain, a_snapshot_has_what_is_new_in_each_ring)
{
	const uint64_t made[RINGS] = { 10 * P, 0, 24 };
	struct scene s;
	bool more;
	size_t i;

	scene_init(&s, RINGS, true);
	for (i = 0; i < RINGS; i++)
		produce(&s, i, made[i]);
	cr_assert_not(round_of(&s));
	cr_assert_eq(s.drain.aux_bytes, 0, "a round alone takes none");
	for (i = 0; i < 2; i++) { /* the second round has nothing new */
		cr_assert_eq(ptc_drain_round(&s.drain, false, true, &more, &s.err), 0);
		cr_assert_eq(s.drain.aux_bytes, 10 * P + 24);
	}
	ptc_drain_close(&s.drain);
	cr_assert(!s.drain.ledger[0].aux_made && s.drain.ledger[0].aux_stored == 10 * P);
	check_file(&s, made);
	scene_release(&s);
}

Test(drain, wakeups_are_counted)
{
	const struct pollfd fds[2] = { { .revents = POLLIN }, { .revents = POLLHUP } };
	struct scene s;

	scene_init(&s, 2, false);
	ptc_drain_woken(&s.drain, fds);
	ptc_drain_woken(&s.drain, fds);
	cr_assert(s.drain.ledger[0].wakeups == 2 && s.drain.ledger[1].wakeups == 0);
	scene_release(&s);
}

Test(drain, a_ring_whose_cpu_comes_later_is_read_from_then_on)
{
	int snapshot;

	for (snapshot = 0; snapshot < 2; snapshot++) {
		struct ptc_source_ring late;
		struct scene s;
		bool more;

		scene_init(&s, 2, snapshot);
		take_pages(&s, 1, &late);
		cr_assert_eq(ptc_drain_round(&s.drain, false, snapshot, &more, &s.err), 0);
		cr_assert_eq(s.drain.aux_bytes, 0);
		s.fake.rings[1].page = late.page;
		s.fake.rings[1].aux = late.aux;
		cr_assert_eq(ptc_drain_round(&s.drain, false, false, &more, &s.err), 0);
		produce(&s, 1, 64);
		cr_assert_eq(ptc_drain_round(&s.drain, true, snapshot, &more, &s.err), 0);
		cr_assert_eq(s.drain.aux_bytes, 64);
		ptc_drain_close(&s.drain);
		cr_assert_eq(s.drain.ledger[1].aux_stored, 64);
		cr_assert_eq(s.drain.ledger[0].aux_made, 0);
		scene_release(&s);
	}
}

Test(drain, a_ring_whose_cpu_never_comes_has_nothing)
{
	struct ptc_source_ring late;
	struct scene s;
	bool more;

	scene_init(&s, 2, false);
	take_pages(&s, 1, &late);
	produce(&s, 0, 64);
	cr_assert_eq(ptc_drain_round(&s.drain, true, false, &more, &s.err), 0);
	ptc_drain_close(&s.drain);
	cr_assert_eq(s.drain.aux_bytes, 64);
	cr_assert(!s.drain.ledger[1].data_made && !s.drain.ledger[1].aux_made);
	s.fake.rings[1].page = late.page;
	s.fake.rings[1].aux = late.aux;
	scene_release(&s);
}
