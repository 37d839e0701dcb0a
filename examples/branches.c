/* SPDX-License-Identifier: MIT */
/*
 * Prints the functions that a recorded program called most, for the whole recording, a part of its
 * time, or one thread. Also prints what is missing in the trace. Valid C and C++.
 *
 *	cc branches.c -lptcap -o branches (README.md: without an installed ptcap)
 *	./branches perf.data [N [FROM-TO|all [TID]]]
 *
 * N: number of functions (10). FROM-TO: part of the time, in percent ("50-100"). TID: a thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptcap/decode.h"

enum { NAME_MAX_LEN = 64, TABLE = 1 << 16 }; /* a power of two */

/*
 * An address called in one process. Symbol names are borrowed for a short time, so they are copied.
 */
struct target {
	uint64_t addr, calls;
	int32_t pid;
	char name[NAME_MAX_LEN];
};

struct counter {
	struct ptc_decode *d;
	struct target *targets; /* hash table with TABLE entries; calls 0: free */
	size_t n;
	uint64_t calls, branches;
	uint64_t gaps[PTC_GAP_COUNT], gap_bytes[PTC_GAP_COUNT];
};

static struct target *find(struct counter *c, int32_t pid, uint64_t addr)
{
	size_t i = (size_t)((addr ^ addr >> 16 ^ (uint64_t)(uint32_t)pid << 7) % TABLE);

	while (c->targets[i].calls && (c->targets[i].addr != addr || c->targets[i].pid != pid))
		i = (i + 1) % TABLE;
	return &c->targets[i];
}

static void count_call(struct counter *c, const struct ptc_item *it)
{
	struct target *t = find(c, it->pid, it->to);
	const char *name;
	uint64_t off = 0;

	c->calls++;
	if (!t->calls) {
		if (c->n >= TABLE / 2) /* a limit that is sufficient here */
			return;
		c->n++;
		t->addr = it->to;
		t->pid = it->pid;
		name = ptc_decode_symbol(c->d, it, it->to, &off);
		if (!name)
			name = ptc_decode_file(c->d, it, it->to, &off);
		if (name && off)
			snprintf(t->name, sizeof(t->name), "%s+0x%" PRIx64, name, off);
		else
			snprintf(t->name, sizeof(t->name), "%s", name ? name : "?");
	}
	t->calls++;
}

/* The sink. Items are borrowed until it returns. */
static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct counter *c = (struct counter *)ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_GAP) {
			c->gaps[it->cause]++;
			c->gap_bytes[it->cause] += it->to;
		}
		if (it->type != PTC_ITEM_BRANCH)
			continue;
		c->branches++;
		/* to 0: the call left the traced code */
		if ((it->kind == PTC_KIND_CALL || it->kind == PTC_KIND_ICALL) && it->to)
			count_call(c, it);
	}
	return 0;
}

static int by_calls(const void *pa, const void *pb)
{
	const struct target *a = (const struct target *)pa, *b = (const struct target *)pb;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void show(struct counter *c, size_t most)
{
	const char *note;
	size_t i;

	qsort(c->targets, TABLE, sizeof(*c->targets), by_calls);
	printf("branches: %" PRIu64 "\ncalls: %" PRIu64 "\n", c->branches, c->calls);
	for (i = 0; i < most && i < c->n; i++)
		printf("%" PRIu64 " %" PRIx64 " %s\n", c->targets[i].calls, c->targets[i].addr,
		       c->targets[i].name);
	for (i = 0; i < PTC_GAP_COUNT; i++)
		if (c->gaps[i])
			printf("gap %s: %" PRIu64 ", %" PRIu64 " bytes\n",
			       ptc_gap_name((enum ptc_gap_cause)i), c->gaps[i], c->gap_bytes[i]);
	for (i = 0; (note = ptc_decode_note(c->d, i)) != NULL; i++)
		fprintf(stderr, "branches: %s\n", note);
}

static uint64_t part(uint64_t first, uint64_t last, unsigned int percent)
{
	const uint64_t span = last - first;

	return first + span / 100 * percent + span % 100 * percent / 100;
}

/* Select a part of the time: "50-100" or "all". */
static int choose(struct ptc_decode *d, const char *range, struct ptc_err *err)
{
	unsigned int from, to;
	uint64_t first, last;
	char more;
	int rc;

	if (!strcmp(range, "all"))
		return 0;
	if (sscanf(range, "%u-%u%c", &from, &to, &more) != 2 || to < from || to > 100) {
		fprintf(stderr, "branches: '%s' is no range\n", range);
		exit(2);
	}
	rc = ptc_decode_get_times(d, &first, &last, err);
	if (rc)
		return rc;
	return ptc_decode_choose_time(d, part(first, last, from),
				      to < 100 ? part(first, last, to) : UINT64_MAX, err);
}

static int count(const char *path, const struct ptc_decode_opts *opts, const char *range,
		 size_t most, struct ptc_err *err)
{
	struct counter c;
	struct ptc_sink sink;
	int rc;

	memset(&c, 0, sizeof(c));
	c.targets = (struct target *)calloc(TABLE, sizeof(*c.targets));
	if (!c.targets) {
		fprintf(stderr, "branches: out of memory\n");
		exit(1);
	}
	sink.on_items = on_items;
	sink.ctx = &c;
	rc = ptc_decode_open(path, opts, &c.d, err);
	if (!rc) {
		rc = choose(c.d, range, err);
		if (!rc)
			rc = ptc_decode_run(c.d, &sink, err);
		if (!rc)
			show(&c, most);
		ptc_decode_free(c.d);
	}
	free(c.targets);
	return rc;
}

int main(int argc, char **argv)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_id_range tid;
	struct ptc_err err;

	if (argc < 2 || argc > 5) {
		fprintf(stderr, "usage: branches FILE [N [FROM-TO|all [TID]]]\n");
		return 2;
	}
	if (argc > 4) {
		tid.first = tid.last = (int32_t)strtol(argv[4], NULL, 10);
		opts.tids.ranges = &tid;
		opts.tids.n = 1;
	}
	if (count(argv[1], &opts, argc > 3 ? argv[3] : "all",
		  argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 10, &err)) {
		fprintf(stderr, "branches: %s\n", err.msg);
		return 1;
	}
	return 0;
}
