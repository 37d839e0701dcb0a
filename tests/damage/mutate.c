/* SPDX-License-Identifier: MIT */
/*
 * mutate [-s SEED] [-n COUNT] [-m NUMBER] [-l LIMIT] [-j] [-e] [-w WAYS] [-a] [-k] BASE...
 *
 * Damages each recording in COUNT ways, one at a time, and decodes it. doc/format.md defines the
 * required result. A failure is reported with the number of the change; -m runs only this change,
 * with more output. -l: bytes of trace used of each queue. -k: goes on after a failure.
 *
 * -j: decoding with several threads, which have separate caches, and without libipt's block cache,
 * must give identical output. -e: also runs the second engine: with one thread and, without -w, in
 * all its ways; with -w in WAYS of them, others for each change. -a: both engines, with one, two
 * and four threads each, for COUNT possible changes, also after a failed judgement.
 */
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "change.h"

enum {
	PSB_PLUS = 64, /* bytes, at most */
	BY_CHANCE = 4, /* branches */
};

struct options {
	uint64_t seed, count, number, limit, ways;
	bool one, keep_going, threads, engine, all;
};

/* The current work, for the report of a crash. */
struct place {
	uint64_t number;
	bool ended;
	uint64_t made, failed, differed; /* differed: engines or threads disagree */
	uint64_t by_kind[CHANGE_COUNT], failed_by_kind[CHANGE_COUNT];
};

/* A judgement: the fault, or "". */
struct verdict {
	char text[400];
};

static struct place *place;

static uint64_t number_seed(uint64_t seed, uint64_t number)
{
	return seed * 0xd1342543de82ef95ull + number * 0x2545f4914f6cdd1dull;
}

/* Returns the PSB of the damaged segment; npsb: the damage is before all PSBs. */
static size_t segment_of(const struct lane *l, size_t at)
{
	size_t k = l->npsb;

	while (k && l->psb[k - 1] > at)
		k--;
	return k ? k - 1 : l->npsb;
}

static size_t intact_behind(const struct lane *l, size_t at)
{
	size_t k = 0;

	while (k < l->npsb && l->psb[k] < at)
		k++;
	return k;
}

static void show(const struct flow *f, char *text, size_t len)
{
	(void)snprintf(text, len, "%d: %" PRIx64 " %" PRIx64 " %s @%" PRIu64, f->tid, f->from,
		       f->to, ptc_kind_name((enum ptc_kind)f->kind), f->time);
}

/* Checks that the first, or (@back) last, @n branches of both are equal. */
static bool same(const struct flows *want, const struct flows *got, size_t n, bool back,
		 enum strictness how, const char *what, struct verdict *v)
{
	char a[100] = "nothing", b[100] = "nothing";
	size_t i;

	for (i = 0; i < n; i++) {
		const bool has = got && i < got->n;
		const struct flow *w = &want->v[back ? want->n - 1 - i : i];
		const struct flow *g = has ? &got->v[back ? got->n - 1 - i : i] : NULL;

		if (g && flow_equal(w, g, how))
			continue;
		show(w, a, sizeof(a));
		if (g)
			show(g, b, sizeof(b));
		(void)snprintf(v->text, sizeof(v->text),
			       "%s: of %zu transfers that must not change, the %zuth is %s, was %s",
			       what, n, back ? n - i : i + 1, b, a);
		return false;
	}
	return true;
}

static bool all_same(const struct flows *want, const struct flows *got, enum strictness how)
{
	struct verdict v;
	const size_t n = want ? want->n : 0;

	return n == (got ? got->n : 0) && (!n || same(want, got, n, false, how, "", &v));
}

/* Returns how many branches must be replaced, at one place, to make both equal. */
static size_t differ(const struct flows *want, const struct flows *got)
{
	const size_t n = want ? want->n : 0, m = got ? got->n : 0;
	const size_t least = n < m ? n : m;
	size_t front = 0, back = 0;

	while (front < least && flow_equal(&want->v[front], &got->v[front], SAME_FLOW))
		front++;
	while (back < least - front &&
	       flow_equal(&want->v[n - 1 - back], &got->v[m - 1 - back], SAME_FLOW))
		back++;
	return n + m - least - front - back;
}

/*
 * Returns true if the damage need not be reported. The loss of a PSB+ shows only if the trace
 * behind it makes no sense. With a partly sent address it may lead to other code, and make sense
 * for some branches by chance.
 */
static bool may_be_silent(const struct change *c, const struct flows *want, const struct flows *got)
{
	return !c->told && differ(want, got) <= (c->kind == CHANGE_NO_PSBS ? BY_CHANCE : 0);
}

/* Returns true if code is missing in @queue only in @r, not in @want. */
static bool lacks_code(const struct run *r, const struct run *want, uint32_t queue)
{
	size_t i;

	for (i = 0; i < r->ngaps; i++)
		if (r->gaps[i].cause == PTC_GAP_NOCODE && r->gaps[i].queue == queue &&
		    !run_has_gap(want, &r->gaps[i]))
			return true;
	return false;
}

static void judge_others(const struct base *b, const struct change *c, const struct run *got,
			 struct verdict *v)
{
	size_t i;

	for (i = 0; i < b->nlanes; i++)
		if (i != c->lane && !all_same(run_flows(&b->want, b->lanes[i].queue),
					      run_flows(got, b->lanes[i].queue), SAME_TIME))
			(void)snprintf(v->text, sizeof(v->text), "queue %u is another",
				       b->lanes[i].queue);
}

static void judge_trace(const struct base *b, const struct change *c, const struct run *got,
			struct verdict *v)
{
	struct lane *l = &b->lanes[c->lane];
	const struct flows *want = run_flows(&b->want, l->queue), *have = run_flows(got, l->queue);
	const size_t k = segment_of(l, c->from), e = intact_behind(l, c->upto);

	/*
	 * The time decides which thread runs, also before a PSB with a wrong time: the thread at
	 * that time may have no code.
	 */
	const bool of_time = c->kind == CHANGE_TIME ||
			     (k < l->npsb && c->from < l->psb[k] + PSB_PLUS);
	const enum strictness how = of_time ? SAME_FLOW : SAME_TIME;

	if (got->status < 0) {
		(void)snprintf(v->text, sizeof(v->text), "error: %s", got->err.msg);
		return;
	}
	if (c->structural && !run_tells_more(got, &b->want) && !may_be_silent(c, want, have)) {
		(void)snprintf(v->text, sizeof(v->text), "not told of");
		return;
	}
	/* With a wrong time code may be missing, but no other code may appear. */
	if (c->kind == CHANGE_TIME && !run_tells_more(got, &b->want) &&
	    !all_same(want, have, SAME_FLOW)) {
		(void)snprintf(v->text, sizeof(v->text), "other transfers");
		(void)same(want, have, want->n, false, SAME_FLOW, "time", v);
		return;
	}
	if (k < l->npsb && !(of_time && lacks_code(got, &b->want, l->queue)) &&
	    !same(want, have, lane_front(b, l, k), false, how, "in front", v))
		return;
	if (e < l->npsb && !same(want, have, lane_back(b, l, e), true, how, "behind", v))
		return;
	judge_others(b, c, got, v);
}

/* After a change of a sideband record, everything before it must be unchanged. */
static void judge_side(const struct base *b, const struct change *c, const struct run *got,
		       struct verdict *v)
{
	size_t i, n;

	if (got->status < 0)
		return;
	for (i = 0; i < b->want.nlanes; i++) {
		const struct flows *want = &b->want.lanes[i];

		for (n = 0; n < want->n && want->v[n].time < c->until; n++)
			;
		/* A branch is listed only when its target is known, which may be later. */
		if (n)
			n--;
		if (!same(want, run_flows(got, want->queue), n, false, SAME_TIME, "in front of it",
			  v))
			return;
	}
}

static void judge(const struct base *b, const struct change *c, const struct run *got,
		  struct verdict *v)
{
	*v = (struct verdict){ .text = "" };
	if (got->endless)
		(void)snprintf(v->text, sizeof(v->text), "it does not end: %" PRIu64 " items",
			       got->items);
	else if (c->placed)
		judge_trace(b, c, got, v);
	else if (c->kind == CHANGE_SIDE)
		judge_side(b, c, got, v);
}

static void describe(const struct base *b, const struct options *o, uint64_t number,
		     const struct change *c, const char *what)
{
	printf("FAILED %s, seed %" PRIu64 ", number %" PRIu64 ": %s", b->name, o->seed, number,
	       change_name(c->kind));
	if (c->placed)
		printf(", queue %u, 0x%zx to 0x%zx", b->lanes[c->lane].queue, c->from, c->upto);
	printf(" %s: %s\n  again: mutate%s%s%s -s %" PRIu64 " -l %" PRIu64 " -m %" PRIu64 " %s\n",
	       c->what, what, o->threads ? " -j" : "", o->engine ? " -e" : "", o->all ? " -a" : "",
	       o->seed, o->limit, number, b->name);
}

static void write_out(const struct change *c)
{
	FILE *f = fopen("mutant.data", "we");

	if (!f || fwrite(c->bytes, 1, c->len, f) != c->len)
		die("cannot write mutant.data");
	(void)fclose(f);
	printf("it is in mutant.data\n");
}

/* @counts: not all branches are items, so compares the totals. */
static bool is_same(const struct run *a, const struct run *b, bool counts)
{
	if (!counts)
		return a->digest == b->digest && a->items == b->items;
	return a->rest == b->rest && a->ngaps == b->ngaps &&
	       !memcmp(&a->sums, &b->sums, sizeof(a->sums));
}

/* Shows the first branch of a queue that differs; "": none. */
static void show_difference(const struct run *r, const struct run *want, char *text, size_t len)
{
	const struct flows *a, *b;
	char got[80], wanted[80];
	size_t i, k;

	text[0] = 0;
	for (i = 0; i < r->nlanes; i++) {
		a = &r->lanes[i];
		b = run_flows(want, a->queue);
		for (k = 0; b && k < a->n && k < b->n; k++) {
			if (flow_equal(&a->v[k], &b->v[k], SAME_TIME))
				continue;
			show(&a->v[k], got, sizeof(got));
			show(&b->v[k], wanted, sizeof(wanted));
			(void)snprintf(text, len, "; queue %u, transfer %zu: %s, not %s", a->queue,
				       k, got, wanted);
			return;
		}
	}
}

/* Decodes once more in each of the @n ways of @how. The output must be the same. */
static void judge_ways(const struct base *b, const struct change *c, const struct run *got,
		       const struct threads *how, size_t n, struct verdict *v)
{
	char first[240];
	struct run r;
	size_t i;

	for (i = 0; i < n && !v->text[0]; i++) {
		base_run(b, c->bytes, c->len, 100 * b->want.items + 10000, how[i], &r);
		if (!is_same(&r, got, how[i].counts)) {
			show_difference(&r, got, first, sizeof(first));
			(void)snprintf(
				v->text, sizeof(v->text),
				"-j %u:%zu%s%s%s%s%s gives something else: %" PRIu64
				" items, not %" PRIu64 "%s",
				how[i].jobs, how[i].slice, how[i].plain ? " without a cache" : "",
				how[i].engine == PTC_ENGINE_FAST ? " with the second engine" : "",
				how[i].counts ? " that counts" : "", how[i].runs ? " in runs" : "",
				how[i].insns ? " of instructions" : "", r.items, got->items, first);
		}
		run_release(&r);
	}
}

static void judge_threads(const struct base *b, const struct change *c, const struct run *got,
			  struct verdict *v)
{
	static const struct threads how[] = {
		{ .jobs = 1, .plain = true },
		{ .jobs = 2, .slice = 1 },
		{ .jobs = 2, .slice = 2 },
		{ .jobs = 3, .slice = 4096 },
	};

	judge_ways(b, c, got, how, sizeof(how) / sizeof(how[0]), v);
}

/* The instructions by both engines, for every fourth change. */
static void judge_insns(const struct base *b, const struct change *c, uint64_t number,
			struct verdict *v)
{
	static const struct threads how[] = {
		{ .jobs = 1, .insns = true },
		{ .jobs = 1, .insns = true, .engine = PTC_ENGINE_FAST },
		{ .jobs = 2, .insns = true, .slice = 1, .engine = PTC_ENGINE_FAST },
	};
	struct run want;

	if (number % 4 || v->text[0])
		return;
	base_run(b, c->bytes, c->len, 100 * b->want.items + 10000, how[0], &want);
	if (!want.endless)
		judge_ways(b, c, &want, &how[1], 2, v);
	run_release(&want);
}

/* Always tries the first way, and @most of the others: a different choice for each change. */
static void judge_engine(const struct base *b, const struct change *c, const struct run *got,
			 uint64_t number, uint64_t most, struct verdict *v)
{
	static const struct threads how[] = {
		{ .jobs = 1, .engine = PTC_ENGINE_FAST },
		{ .jobs = 2, .slice = 1, .engine = PTC_ENGINE_FAST },
		{ .jobs = 2, .slice = 2, .engine = PTC_ENGINE_FAST },
		{ .jobs = 3, .slice = 4096, .engine = PTC_ENGINE_FAST },
		{ .jobs = 1, .engine = PTC_ENGINE_FAST, .runs = true },
		{ .jobs = 2, .slice = 2, .engine = PTC_ENGINE_FAST, .runs = true },
		{ .jobs = 1, .engine = PTC_ENGINE_FAST, .counts = true },
		{ .jobs = 2, .slice = 1, .engine = PTC_ENGINE_FAST, .counts = true },
	};
	const uint64_t others = sizeof(how) / sizeof(how[0]) - 1;
	const uint64_t n = most < others ? most : others;
	uint64_t i;

	judge_ways(b, c, got, how, 1, v);
	for (i = 0; i < n; i++)
		judge_ways(b, c, got, &how[1 + (number * n + i) % others], 1, v);
	judge_insns(b, c, number, v);
}

/*
 * Tries each engine with one, two and four threads. The size of the work units depends on @number.
 */
static void judge_all(const struct base *b, const struct change *c, const struct run *got,
		      uint64_t number, struct verdict *v)
{
	static const size_t slices[] = { 1, 2, 4096, 0 };
	const size_t two = slices[number % 4], four = slices[number / 4 % 4];
	const struct threads how[] = {
		{ .jobs = 1, .engine = PTC_ENGINE_FAST },
		{ .jobs = 2, .slice = two, .engine = PTC_ENGINE_FAST },
		{ .jobs = 4, .slice = four, .engine = PTC_ENGINE_FAST },
		{ .jobs = 2, .slice = four },
		{ .jobs = 4, .slice = two },
	};

	judge_ways(b, c, got, how, sizeof(how) / sizeof(how[0]), v);
	judge_insns(b, c, number, v);
}

static bool do_one(const struct base *b, const struct options *o, uint64_t number)
{
	struct verdict v, differs = { .text = "" };
	struct change c;
	struct run got;

	place->number = number;
	if (!change_make(b, number_seed(o->seed, number), &c))
		return true;
	base_run(b, c.bytes, c.len, 100 * b->want.items + 10000, (struct threads){ .jobs = 1 },
		 &got);
	judge(b, &c, &got, &v);
	if (o->threads && !got.endless && !v.text[0])
		judge_threads(b, &c, &got, &v);
	if (o->engine && !got.endless && !v.text[0])
		judge_engine(b, &c, &got, number, o->ways, &v);
	if (o->all && !got.endless)
		judge_all(b, &c, &got, number, &differs);
	place->made++;
	place->by_kind[c.kind]++;
	if (v.text[0]) {
		place->failed++;
		place->failed_by_kind[c.kind]++;
		describe(b, o, number, &c, v.text);
	}
	if (differs.text[0]) {
		place->differed++;
		describe(b, o, number, &c, differs.text);
	}
	if (o->one) {
		printf("%s: status %d, %" PRIu64 " items, was %" PRIu64 "; %zu"
		       " gaps, was %zu\n",
		       change_name(c.kind), got.status, got.items, b->want.items, got.ngaps,
		       b->want.ngaps);
		write_out(&c);
	}
	run_release(&got);
	change_release(&c);
	return !v.text[0] && !differs.text[0];
}

/* Limits the CPU time from now on to @seconds. */
static void limit_time(rlim_t seconds)
{
	struct rusage used;
	struct rlimit cpu;

	(void)getrusage(RUSAGE_SELF, &used);
	(void)getrlimit(RLIMIT_CPU, &cpu);
	cpu.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
	(void)setrlimit(RLIMIT_CPU, &cpu);
}

/* Runs in a process of its own. */
static int do_base(const char *name, const struct options *o)
{
	struct base b;
	uint64_t i;
	bool good = true;

	limit_time(600);
	base_open(&b, name, o->limit);
	if (o->one)
		good = do_one(&b, o, o->number);
	for (i = 0; (o->all ? place->made : i) < o->count && i < 10 * o->count && !o->one &&
		    (good || o->keep_going);
	     i++) {
		limit_time(600);
		good &= do_one(&b, o, i);
	}
	base_release(&b);
	place->ended = true;
	(void)fflush(stdout);
	return good ? 0 : 1;
}

static bool try_base(const char *name, const struct options *o)
{
	size_t i;
	int status;
	pid_t pid;

	memset(place, 0, sizeof(*place));
	(void)fflush(stdout);
	pid = fork();
	if (!pid)
		exit(do_base(name, o));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot start a process");
	if (!place->ended)
		printf("FAILED %s: crashed (status 0x%x)\n  again: mutate -s %" PRIu64
		       " -l %" PRIu64 " -m %" PRIu64 " %s\n",
		       name, (unsigned int)status, o->seed, o->limit, place->number, name);
	printf("%s: %" PRIu64 " changes, %" PRIu64 " failed", name, place->made, place->failed);
	if (o->all)
		printf(", %" PRIu64 " differed", place->differed);
	for (i = 0; i < CHANGE_COUNT; i++)
		if (place->by_kind[i])
			printf("; %s %" PRIu64 "/%" PRIu64, change_name((enum change_kind)i),
			       place->failed_by_kind[i], place->by_kind[i]);
	printf("\n");
	return place->ended && WIFEXITED(status) && !WEXITSTATUS(status);
}

static uint64_t number_of(const char *text)
{
	char *end;
	const uint64_t n = strtoull(text, &end, 0);

	if (*end || !*text)
		die("'%s' is no number", text);
	return n;
}

int main(int argc, char **argv)
{
	struct options o = { .seed = 1, .count = 100, .limit = 16384, .ways = UINT64_MAX };
	bool good = true;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:m:l:w:jeak")) != -1) {
		switch (opt) {
		case 's':
			o.seed = number_of(optarg);
			break;
		case 'n':
			o.count = number_of(optarg);
			break;
		case 'm':
			o.one = true;
			o.number = number_of(optarg);
			break;
		case 'l':
			o.limit = number_of(optarg);
			break;
		case 'w':
			o.ways = number_of(optarg);
			break;
		case 'j':
			o.threads = true;
			break;
		case 'e':
			o.engine = true;
			break;
		case 'a':
			o.all = true;
			break;
		case 'k':
			o.keep_going = true;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc)
		die("usage: mutate [-s SEED] [-n COUNT] [-m NUMBER] [-l LIMIT] [-j] [-e] "
		    "[-w WAYS] [-a] [-k] BASE...");
	/* Returning memory and getting it again would take a third of the time. */
	(void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
	place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (place == MAP_FAILED)
		die("out of memory");
	for (; optind < argc; optind++)
		good &= try_base(argv[optind], &o);
	return good ? 0 : 1;
}
