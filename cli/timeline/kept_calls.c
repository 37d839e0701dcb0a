/* SPDX-License-Identifier: MIT */
#include "cli/timeline/kept_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Classes of durations: 32 for each power of 2. */
enum { CLASS_BITS = 5, CLASSES = 64 << CLASS_BITS };

struct ptc_kept_function {
	uint64_t kept;	      /* number of kept calls */
	uint64_t once, each;  /* bytes; valid if known */
	unsigned int longest; /* while merging: the class of its longest call */
	bool known;
};

void ptc_kept_release(struct ptc_kept_calls *k)
{
	size_t i;

	for (i = 0; i < k->nthreads; i++) {
		free(k->threads[i].calls);
		free(k->threads[i].open);
	}
	free(k->threads);
	free(k->functions);
	free(k->path);
	k->threads = NULL;
	k->functions = NULL;
	k->path = NULL;
	k->nthreads = k->threads_cap = k->nfunctions = k->functions_cap = k->path_cap = 0;
}

/* --- bytes --- */

static bool is_gap_mark(const struct ptc_kept_call *c)
{
	return c->function >= PTC_KEPT_GAP;
}

/* Returns the bytes of @c without those of its function's name. */
static uint64_t bytes_of(const struct ptc_kept_calls *k, const struct ptc_kept_call *c)
{
	uint64_t n = 0;

	if (is_gap_mark(c))
		return PTC_KEPT_EVENT + PTC_KEPT_GAP_ARGS;
	if (c->merged)
		n += c->merged > UINT32_MAX ? 2 * PTC_KEPT_ARG : PTC_KEPT_ARG;
	if (c->how != PTC_CALL_BY_CALL)
		n += PTC_KEPT_ARG;
	return n + (uint64_t)2 * PTC_KEPT_EVENT + k->functions[c->function].each;
}

static void count_call(struct ptc_kept_calls *k, const struct ptc_kept_call *c)
{
	k->bytes += bytes_of(k, c);
	if (!is_gap_mark(c) && !k->functions[c->function].kept++)
		k->bytes += k->functions[c->function].once;
}

static void uncount_call(struct ptc_kept_calls *k, const struct ptc_kept_call *c)
{
	k->bytes -= bytes_of(k, c);
	if (!is_gap_mark(c) && !--k->functions[c->function].kept)
		k->bytes -= k->functions[c->function].once;
}

/* Makes the costs of @function known. Returns false if out of memory. */
static bool learn_function(struct ptc_kept_calls *k, uint32_t function)
{
	struct ptc_kept_function *f;

	if (!ptc_grow(&k->functions, &k->functions_cap, (size_t)function + 1,
		      sizeof(*k->functions)))
		return false;
	for (; k->nfunctions <= function; k->nfunctions++)
		k->functions[k->nfunctions] = (struct ptc_kept_function){ .kept = 0 };
	f = &k->functions[function];
	if (!f->known)
		f->once = k->cost_of(k->ctx, function, &f->each);
	f->known = true;
	return true;
}

bool ptc_kept_has(const struct ptc_kept_calls *k, uint32_t function)
{
	return function < k->nfunctions && k->functions[function].kept;
}

/* --- merging --- */

/* Returns the class of a duration; longer durations have no lower class. */
static unsigned int class_of(uint64_t duration)
{
	const unsigned int bits = 64 - (unsigned int)__builtin_clzll(duration | 1);

	if (bits <= CLASS_BITS)
		return (unsigned int)duration;
	return (bits - CLASS_BITS) << CLASS_BITS |
	       (unsigned int)(duration >> (bits - CLASS_BITS - 1) & ((1U << CLASS_BITS) - 1));
}

/* Returns the shortest duration of @class. */
static uint64_t shortest_of(unsigned int class)
{
	const unsigned int bits = class >> CLASS_BITS, part = class & ((1U << CLASS_BITS) - 1);

	if (!bits)
		return part;
	return ((UINT64_C(1) << CLASS_BITS) + part) << (bits - 1);
}

static bool is_open(const struct ptc_kept_thread *t, size_t call)
{
	const size_t depth = t->calls[call].depth;

	return depth < t->nopen && t->open[depth] == call;
}

/* Gets the class of a call; that of calls that have not ended is the last one. */
static unsigned int class_of_call(const struct ptc_kept_thread *t, size_t call)
{
	return is_open(t, call) ? CLASSES - 1 : class_of(t->calls[call].end - t->calls[call].begin);
}

/* Adds the bytes of the calls and gaps of @t that disappear, by their classes. */
static void sum_thread(struct ptc_kept_calls *k, const struct ptc_kept_thread *t,
		       uint64_t sums[CLASSES])
{
	const struct ptc_kept_call *gap = NULL;
	unsigned int class;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct ptc_kept_call *c = &t->calls[i];

		if (is_gap_mark(c)) {
			if (gap)
				sums[class_of(c->begin - gap->begin)] += bytes_of(k, c);
			gap = c;
			continue;
		}
		class = class_of_call(t, i);
		sums[class] += bytes_of(k, c);
		if (class > k->functions[c->function].longest)
			k->functions[c->function].longest = class;
	}
}

/*
 * Sums the bytes that disappear when calls are merged, by the classes of the calls. The name of a
 * function disappears with its longest call.
 */
static void sum_bytes(struct ptc_kept_calls *k, uint64_t sums[CLASSES])
{
	size_t i;

	memset(sums, 0, CLASSES * sizeof(*sums));
	for (i = 0; i < k->nfunctions; i++)
		k->functions[i].longest = 0;
	for (i = 0; i < k->nthreads; i++)
		sum_thread(k, &k->threads[i], sums);
	for (i = 0; i < k->nfunctions; i++)
		if (k->functions[i].kept)
			sums[k->functions[i].longest] += k->functions[i].once;
}

/* Returns a threshold, greater than the one before, that leaves at most @target bytes. */
static uint64_t choose_threshold(struct ptc_kept_calls *k, uint64_t target)
{
	uint64_t sums[CLASSES], left = k->bytes, at = 0;
	unsigned int i;

	sum_bytes(k, sums);
	for (i = 0; i + 1 < CLASSES; i++) {
		left -= sums[i] < left ? sums[i] : left;
		at = shortest_of(i + 1);
		if (left <= target && at > k->threshold)
			return at;
	}
	return UINT64_MAX;
}

/* Counts a call, which is not in k->bytes any more, and the calls in it in @caller. */
static void add_to_caller(struct ptc_kept_calls *k, struct ptc_kept_thread *t,
			  struct ptc_kept_call *caller, uint64_t calls)
{
	k->merged++;
	if (!caller) {
		t->merged += calls;
		return;
	}
	k->bytes -= bytes_of(k, caller);
	caller->merged += calls;
	k->bytes += bytes_of(k, caller);
}

/* Merges @c into the gap in front of it, if both are close. Returns whether it did so. */
static bool merge_gap(struct ptc_kept_calls *k, struct ptc_kept_call *before,
		      const struct ptc_kept_call *c)
{
	if (!before || c->begin - before->begin >= k->threshold)
		return false;
	uncount_call(k, c);
	before->merged += 1 + c->merged;
	before->end += c->end;
	return true;
}

/* Merges the calls of @t that are shorter than the threshold. */
static void merge_thread(struct ptc_kept_calls *k, struct ptc_kept_thread *t)
{
	struct ptc_kept_call *gap = NULL;
	size_t i, n = 0, npath = 0, opened = 0;

	/* k->path: the kept callers of call i, the outermost first. */
	for (i = 0; i < t->n; i++) {
		const struct ptc_kept_call c = t->calls[i];
		const bool mark = is_gap_mark(&c), open = !mark && is_open(t, i);

		while (!mark && npath && t->calls[k->path[npath - 1]].depth >= c.depth)
			npath--;
		if (mark && merge_gap(k, gap, &c))
			continue;
		if (!mark && !open && c.end - c.begin < k->threshold) {
			uncount_call(k, &c);
			add_to_caller(k, t, npath ? &t->calls[k->path[npath - 1]] : NULL,
				      1 + c.merged);
			continue;
		}
		t->calls[n] = c;
		if (mark)
			gap = &t->calls[n];
		else
			k->path[npath++] = n;
		if (open)
			t->open[opened++] = n;
		n++;
	}
	t->n = n;
}

/* Merges calls until at most @target bytes are left, or all calls that have ended are merged. */
static void merge_calls(struct ptc_kept_calls *k, uint64_t target)
{
	size_t i;

	k->threshold = choose_threshold(k, target);
	for (i = 0; i < k->nthreads; i++)
		merge_thread(k, &k->threads[i]);
}

void ptc_kept_finish(struct ptc_kept_calls *k)
{
	while (k->bytes > k->limit && k->threshold != UINT64_MAX)
		merge_calls(k, k->limit);
}

/* Merges calls if the ended calls need more than the limit. */
static void check_limit(struct ptc_kept_calls *k)
{
	const uint64_t open = k->nopen * 2 * PTC_KEPT_EVENT;
	const uint64_t room = k->limit > k->fixed ? k->limit - k->fixed : 0;

	/* With the greatest threshold, only calls that have not ended are left. */
	if (k->threshold == UINT64_MAX)
		return;
	if (k->bytes - k->fixed > room && k->bytes - k->fixed - room > open)
		merge_calls(k, k->fixed + open + room / 4 * 3);
}

/* --- adding --- */

/* Returns thread number @thread, which may be new. NULL: out of memory. */
static struct ptc_kept_thread *kept_thread(struct ptc_kept_calls *k, uint32_t thread)
{
	if (thread >= k->nthreads &&
	    !ptc_grow(&k->threads, &k->threads_cap, (size_t)thread + 1, sizeof(*k->threads)))
		return NULL;
	for (; k->nthreads <= thread; k->nthreads++) {
		k->threads[k->nthreads] = (struct ptc_kept_thread){ .n = 0 };
		k->bytes += PTC_KEPT_THREAD;
		k->fixed += PTC_KEPT_THREAD;
	}
	return &k->threads[thread];
}

/* Appends @c to the calls of @t, and merges calls if the file gets too large. */
static bool add_kept(struct ptc_kept_calls *k, struct ptc_kept_thread *t,
		     const struct ptc_kept_call *c)
{
	if (!ptc_grow(&t->calls, &t->cap, t->n + 1, sizeof(*t->calls)))
		return false;
	t->calls[t->n++] = *c;
	count_call(k, c);
	return true;
}

bool ptc_kept_enter(struct ptc_kept_calls *k, uint32_t thread, uint32_t function,
		    enum ptc_call_how how, uint64_t place)
{
	struct ptc_kept_thread *t = kept_thread(k, thread);
	struct ptc_kept_call c = { .begin = place, .end = place, .function = function };

	if (!t || !learn_function(k, function) ||
	    !ptc_grow(&t->open, &t->open_cap, t->nopen + 1, sizeof(*t->open)) ||
	    !ptc_grow(&k->path, &k->path_cap, t->nopen + 1, sizeof(*k->path)))
		return false;
	c.depth = (uint32_t)t->nopen & 0xffffff;
	c.how = (uint8_t)how;
	k->calls++;
	k->nopen++;
	t->open[t->nopen++] = t->n;
	if (!add_kept(k, t, &c))
		return false;
	check_limit(k);
	return true;
}

bool ptc_kept_leave(struct ptc_kept_calls *k, uint32_t thread, uint64_t place)
{
	struct ptc_kept_thread *t = kept_thread(k, thread);
	struct ptc_kept_call *c;

	if (!t || !t->nopen)
		return t;
	k->nopen--;
	c = &t->calls[t->open[--t->nopen]];
	c->end = place;
	if (place - c->begin >= k->threshold)
		return true;
	uncount_call(k, c);
	add_to_caller(k, t, t->nopen ? &t->calls[t->open[t->nopen - 1]] : NULL, 1 + c->merged);
	/* Its calls were shorter, and are merged already: behind it are only gaps. */
	t->n--;
	memmove(c, c + 1, (size_t)(t->calls + t->n - c) * sizeof(*c));
	return true;
}

bool ptc_kept_gap(struct ptc_kept_calls *k, uint32_t thread, uint8_t cause, uint64_t missing,
		  uint64_t place)
{
	const struct ptc_kept_call c = { .begin = place,
					 .end = missing,
					 .function = PTC_KEPT_GAP + cause };
	struct ptc_kept_thread *t = kept_thread(k, thread);

	if (t && t->n && is_gap_mark(&t->calls[t->n - 1]) &&
	    place - t->calls[t->n - 1].begin < k->threshold) {
		t->calls[t->n - 1].merged++;
		t->calls[t->n - 1].end += missing;
		return true;
	}
	if (!t || !add_kept(k, t, &c))
		return false;
	check_limit(k);
	return true;
}
