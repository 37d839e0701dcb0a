/* SPDX-License-Identifier: MIT */
/*
 * Description: threads that decode code for the same cache at the same time, each with its own
 * trace, list the same as each of them alone. The cache knows all code that was decoded, also for a
 * thread that asks meanwhile. Threads that look up many new blocks get the blocks of their
 * addresses. Under TSan no accesses race.
 *
 * The code has units of 16 bytes, each determined by its address: jccs, jumps and calls to other
 * units, returns, and indirect jumps.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/engine/engine.h"
#include "fewer.h"

enum { UNIT = 16, UNITS = 6000, BASE = 0x400000, THREADS = 4 };
enum { ROUNDS = FEWER(2, 1), BRANCHES = FEWER(60000, 30000) };

/* Few enough that the index stays small: its slots are reused all the time. */
enum { PLACES = 1 << 13, FINDS = FEWER(200, 50) };

static void die(const char *what)
{
	fprintf(stderr, "stress_code: %s\n", what);
	exit(1);
}

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 29) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 32) * 0x94d049bb133111eb;
	return v ^ v >> 29;
}

enum what { JCC, JMP, CALL, RET, IJMP };

static enum what what_is(uint64_t unit)
{
	static const enum what kinds[] = { JCC, JCC, JCC, JCC, JMP, CALL, CALL, RET, RET, IJMP };

	return kinds[mix(unit) % (sizeof(kinds) / sizeof(*kinds))];
}

/* Jumps and calls go forwards, so that no loop is without a TNT bit. */
static uint64_t target_of(uint64_t unit)
{
	const uint64_t to = mix(unit + 77);

	if (what_is(unit) == JCC)
		return to % UNITS;
	return unit + 1 < UNITS - 1 ? unit + 1 + to % (UNITS - 1 - unit) : UNITS - 1;
}

/* The last unit must use a packet, because no unit follows. */
static enum what kind_of(uint64_t unit)
{
	const enum what what = what_is(unit);

	return unit == UNITS - 1 && (what == JMP || what == CALL || what == JCC) ? IJMP : what;
}

/* The instruction is at the end of the unit, after nops. */
static void write_unit(uint64_t unit, uint8_t *out)
{
	const uint32_t rel = (uint32_t)(target_of(unit) - unit - 1) * UNIT;

	memset(out, 0x90, UNIT);
	switch (kind_of(unit)) {
	case JCC:
		memcpy(out + 10, (uint8_t[]){ 0x0f, 0x85 }, 2);
		memcpy(out + 12, &rel, sizeof(rel));
		break;
	case JMP:
	case CALL:
		out[11] = kind_of(unit) == JMP ? 0xe9 : 0xe8;
		memcpy(out + 12, &rel, sizeof(rel));
		break;
	case RET:
		out[15] = 0xc3;
		break;
	case IJMP:
		memcpy(out + 14, (uint8_t[]){ 0xff, 0xe0 }, 2);
		break;
	}
}

static size_t read_code(const void *ctx, uint64_t ip, uint8_t *out, size_t len)
{
	const uint8_t *code = ctx;
	const uint64_t off = ip - BASE, size = (uint64_t)UNIT * UNITS;

	if (off >= size)
		return 0;
	len = len < size - off ? len : size - off;
	memcpy(out, code + off, len);
	return len;
}

/* A trace under construction. */
struct walk {
	uint8_t *bytes;
	size_t len, cap;
	uint64_t seed;
	unsigned int nbits, bits;
	uint64_t stack[PTC_FAST_STACK];
	unsigned int depth;
};

static void put(struct walk *w, const void *bytes, size_t n)
{
	while (w->len + n > w->cap) {
		w->cap = w->cap ? w->cap * 2 : 4096;
		w->bytes = realloc(w->bytes, w->cap);
		if (!w->bytes)
			die("out of memory");
	}
	memcpy(w->bytes + w->len, bytes, n);
	w->len += n;
}

static void put_ip(struct walk *w, uint8_t head, uint64_t unit)
{
	const uint64_t ip = BASE + unit * UNIT;

	put(w, &head, 1);
	put(w, &ip, 6);
}

static void put_bits(struct walk *w)
{
	const uint8_t tnt = (uint8_t)(1u << (w->nbits + 1) | w->bits << 1);

	if (w->nbits)
		put(w, &tnt, 1);
	w->nbits = w->bits = 0;
}

static void put_bit(struct walk *w, bool taken)
{
	w->bits = w->bits << 1 | taken;
	if (++w->nbits == 6)
		put_bits(w);
}

static uint64_t number(struct walk *w, uint64_t below)
{
	return mix(w->seed++) % below;
}

static uint64_t leave(struct walk *w)
{
	const uint64_t to = number(w, UNITS);

	put_bits(w);
	put_ip(w, 0x6d, to);
	return to;
}

/* Adds the packets of @unit. Returns the next unit. */
static uint64_t go_on(struct walk *w, uint64_t unit)
{
	bool taken;

	switch (kind_of(unit)) {
	case JCC:
		taken = number(w, 3);
		put_bit(w, taken);
		return taken ? target_of(unit) : unit + 1;
	case CALL:
		/* A call to the next instruction is not a call for the engine. */
		if (target_of(unit) != unit + 1) {
			if (w->depth == PTC_FAST_STACK) {
				memmove(w->stack, w->stack + 1,
					sizeof(w->stack) - sizeof(*w->stack));
				w->depth--;
			}
			w->stack[w->depth++] = unit + 1;
		}
		return target_of(unit);
	case JMP:
		return target_of(unit);
	case RET:
		if (!w->depth)
			return leave(w);
		put_bit(w, true);
		return w->stack[--w->depth];
	default:
		return leave(w);
	}
}

static void walk(struct walk *w, uint64_t seed)
{
	static const uint8_t psb[] = { 2,    0x82, 2,	 0x82, 2,    0x82, 2,	 0x82, 2,
				       0x82, 2,	   0x82, 2,    0x82, 2,	   0x82, 0x99, 1 };
	static const uint8_t psbend[] = { 2, 0x23 }, pads[32] = { 0 };
	uint64_t unit = seed % UNITS;
	size_t i;

	*w = (struct walk){ .seed = seed << 32 };
	put(w, psb, sizeof(psb));
	put_ip(w, 0x7d, unit);
	put(w, psbend, sizeof(psbend));
	for (i = 0; i < BRANCHES; i++)
		unit = go_on(w, unit);
	put_bits(w);
	put(w, pads, sizeof(pads));
}

/* The cache shared by all threads. */
struct known {
	struct ptc_fast_code code;
	struct ptc_fast_chains chains;
};

struct job {
	struct walk walk;
	struct known *known;
	const uint8_t *bytes; /* the code bytes */
	bool counts;
	pthread_t thread;
	pthread_barrier_t *start;

	uint64_t insns, hash, kinds[PTC_KIND_COUNT];
};

static struct ptc_fast_hand *hand_of(const struct job *j)
{
	const struct ptc_fast_source source = { read_code, j->bytes };
	struct ptc_fast_hand *h = ptc_fast_hand_new(&j->known->code, &source);

	if (!h)
		die("out of memory");
	return h;
}

static void follow(struct job *j)
{
	struct ptc_fast f;
	size_t i;

	ptc_fast_init(&f, hand_of(j), &j->known->chains);
	f.counts = j->counts;
	ptc_fast_begin(&f, j->walk.bytes, j->walk.len, 0);
	if (ptc_fast_run(&f) != PTC_FAST_AT_END)
		die(f.flow.why ? f.flow.why : "it does not come to the end");
	j->insns = f.flow.insns;
	j->hash = 0;
	for (i = 0; !j->counts && i < f.flow.nrecs; i++)
		j->hash = mix(j->hash ^ f.flow.recs[i].from_kind) + f.flow.recs[i].to;
	ptc_fast_flow_count(&f.flow);
	memcpy(j->kinds, f.flow.kinds, sizeof(j->kinds));
	ptc_fast_release(&f);
}

static void *work(void *ctx)
{
	struct job *j = ctx;

	(void)pthread_barrier_wait(j->start);
	follow(j);
	return NULL;
}

static void know(struct known *k, bool shared, bool counts)
{
	if (!ptc_fast_code_init(&k->code) || !ptc_fast_chains_init(&k->chains))
		die("out of memory");
	k->code.shared = shared;
	ptc_fast_chains_set_counts(&k->chains, counts);
}

static void forget(struct known *k)
{
	ptc_fast_chains_release(&k->chains);
	ptc_fast_code_release(&k->code);
}

/* A thread that asks whether code is known while the jobs decode it. */
struct asking {
	struct known *known;
	pthread_t thread;
	bool over;
};

/* Half of the addresses are used by one thread only. */
static void *find_places(void *ctx)
{
	struct job *j = ctx;
	struct ptc_fast_hand *h = hand_of(j);
	uint64_t ip, i;
	uint32_t block;

	(void)pthread_barrier_wait(j->start);
	for (i = 0; i < PLACES; i++) {
		ip = BASE + mix(i % 2 ? i : i ^ j->walk.seed << 32) % (1 << 30);
		block = ptc_fast_code_find(h, ip, PTC_MODE_64);
		if (!block || j->known->code.blocks[block].ip != ip)
			die("the block at an address is another one's");
	}
	return NULL;
}

static void run_together(struct job *jobs, struct known *known, void *(*run)(void *job))
{
	pthread_barrier_t start;
	size_t i;

	if (pthread_barrier_init(&start, NULL, THREADS))
		die("no barrier");
	for (i = 0; i < THREADS; i++) {
		jobs[i].known = known;
		jobs[i].start = &start;
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			die("no thread");
	}
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(jobs[i].thread, NULL);
	(void)pthread_barrier_destroy(&start);
}

static void run_alone(struct job *j)
{
	struct known known;

	know(&known, false, j->counts);
	j->known = &known;
	follow(j);
	forget(&known);
}

/* Asks for all code, again and again, until the end. */
static void *ask(void *ctx)
{
	struct asking *a = ctx;
	uint64_t i;

	for (i = 0; !__atomic_load_n(&a->over, __ATOMIC_ACQUIRE); i++)
		(void)ptc_fast_code_knows(&a->known->code, BASE + i % UNITS * UNIT,
					  BASE + i % UNITS * UNIT + 1);
	return NULL;
}

static void expect_known(struct ptc_fast_code *c)
{
	const struct ptc_fast_block *b;
	size_t i;

	for (i = 1; i < c->used[PTC_FAST_LIST_BLOCKS]; i++) {
		b = &c->blocks[i];
		if (b->end != PTC_FAST_UNBUILT && !ptc_fast_code_knows(c, b->ip, b->ip + 1))
			die("a block is there, and nobody knows of its code");
	}
}

static void round_of(const uint8_t *bytes, uint64_t seed, bool counts)
{
	struct job jobs[THREADS] = { { .insns = 0 } };
	struct known known;
	struct asking asking = { .known = &known };
	size_t i;

	for (i = 0; i < THREADS; i++) {
		jobs[i].bytes = bytes;
		jobs[i].counts = counts;
		/* Two of the threads take the same path. */
		walk(&jobs[i].walk, seed * THREADS + (i ? i : 1));
	}
	know(&known, true, counts);
	if (pthread_create(&asking.thread, NULL, ask, &asking))
		die("no thread");
	run_together(jobs, &known, work);
	__atomic_store_n(&asking.over, true, __ATOMIC_RELEASE);
	(void)pthread_join(asking.thread, NULL);
	expect_known(&known.code);
	for (i = 0; i < THREADS; i++) {
		struct job alone = jobs[i];

		run_alone(&alone);
		if (alone.insns != jobs[i].insns || alone.hash != jobs[i].hash ||
		    memcmp(alone.kinds, jobs[i].kinds, sizeof(alone.kinds)) != 0)
			die("what a thread lists beside others is not what it lists alone");
		free(jobs[i].walk.bytes);
	}
	if (!seed)
		printf("%" PRIu64 " instructions, %zu blocks, %" PRIu64 " chains\n", jobs[0].insns,
		       known.code.used[PTC_FAST_LIST_BLOCKS], known.code.hands->chains);
	if (known.code.failed || !known.code.hands->chains)
		die("it was not what it was to be");
	forget(&known);
}

static void find_at_once(void)
{
	struct job jobs[THREADS] = { { .insns = 0 } };
	struct known known;
	size_t i;

	for (i = 0; i < THREADS; i++)
		jobs[i].walk.seed = i;
	for (i = 0; i < FINDS; i++) {
		know(&known, true, false);
		run_together(jobs, &known, find_places);
		forget(&known);
	}
}

int main(void)
{
	uint8_t *bytes = malloc((size_t)UNIT * UNITS);
	uint64_t i;

	if (!bytes)
		die("out of memory");
	for (i = 0; i < UNITS; i++)
		write_unit(i, bytes + i * UNIT);
	for (i = 0; i < ROUNDS; i++)
		round_of(bytes, i, i % 2);
	find_at_once();
	free(bytes);
	return 0;
}
