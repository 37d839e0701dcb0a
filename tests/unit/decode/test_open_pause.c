/* SPDX-License-Identifier: MIT */
/* Description: a pause in the run of a decoder, and the call before a change. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"

enum { TURNS = 40 };

/* A run with pauses. */
struct paused {
	struct recording t;
	struct rec_file f;
	uint8_t *bytes;
	struct ptc_sink sink;
	bool pauses;
	int runs, result;
	int changes;	  /* calls of before_change */
	size_t at_change; /* length of the text at the newest of them */
};

static int pause_after_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct paused *p = ctx;

	if (p->pauses)
		ptc_decode_pause(p->t.d);
	return rec_on_items(&p->t, items, n);
}

static void count_change(void *ctx)
{
	struct paused *p = ctx;

	p->changes++;
	(void)fflush(p->t.out);
	p->at_change = p->t.len;
}

/* Two processes take turns. In the middle, code is mapped. */
static void begin(struct paused *p, uint64_t code_of_8)
{
	struct ptc_buf a = PTC_BUF_INIT;
	size_t len;
	int i;

	memset(p, 0, sizeof(*p));
	rec_begin(&p->t, &rec_clock_1ns);
	rec_map_code(&p->t, 7, 0, 0x1000);
	rec_map_code(&p->t, 8, 0, code_of_8);
	for (i = 1; i <= TURNS; i++) {
		pd_switch(&p->t.pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 - 10, false);
		rec_psb_at(&a, (uint64_t)i * 100);
		rec_syscall_at(&a, (uint64_t)i * 100 + 20, i % 2 ? 0x1000 : code_of_8);
		pd_switch(&p->t.pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 + 50, true);
		if (i == TURNS / 2)
			rec_map_code(&p->t, 8, (uint64_t)i * 100 + 60, 0x5000);
	}
	rec_piece(&p->t, 2, -1, 2, 0, &a);
	p->bytes = pd_finish(&p->t.pd, &len);
	p->f = rec_make_file(p->bytes, len);
	p->sink = (struct ptc_sink){ pause_after_items, p };
}

static void open_recording(struct paused *p)
{
	struct ptc_err err;

	p->t.last = 0;
	p->t.out = open_memstream(&p->t.text, &p->t.len);
	cr_assert_eq(ptc_decode_open(p->f.path, &p->t.opts, &p->t.d, &err), 0);
	ptc_decode_on_change(p->t.d, count_change, p);
}

static void *run(void *ctx)
{
	struct paused *p = ctx;
	struct ptc_err err;

	p->runs++;
	p->result = ptc_decode_run(p->t.d, &p->sink, &err);
	return NULL;
}

/* Runs to the end, each time in another thread. Returns the text. */
static char *run_all(struct paused *p)
{
	pthread_t thread;
	struct ptc_err err;

	p->runs = 0;
	do {
		cr_assert_eq(pthread_create(&thread, NULL, run, p), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
	} while (p->result == 1);
	cr_assert_eq(p->result, 0);
	cr_assert_eq(ptc_decode_run(p->t.d, &p->sink, &err), PTC_E_USAGE);
	ptc_decode_free(p->t.d);
	(void)fclose(p->t.out);
	return p->t.text;
}

static void end(struct paused *p)
{
	(void)close(p->f.fd);
	free(p->bytes);
	rec_end(&p->t);
}

static void expect_the_same(struct paused *p)
{
	char *whole, *parts;

	p->pauses = false;
	open_recording(p);
	whole = run_all(p);
	cr_assert_eq(p->runs, 1);
	p->pauses = true;
	open_recording(p);
	parts = run_all(p);
	cr_assert_str_eq(parts, whole);
	free(whole);
	free(parts);
}

Test(open_pause, another_thread_continues)
{
	struct paused p;

	begin(&p, 0x2000);
	expect_the_same(&p);
	cr_assert_gt(p.runs, TURNS / 4);
	end(&p);
}

Test(open_pause, of_a_selection)
{
	struct paused p;

	begin(&p, 0x2000);
	p.t.opts.tids = (struct ptc_ids){ &(struct ptc_id_range){ 7, 7 }, 1 };
	expect_the_same(&p);
	cr_assert_gt(p.runs, 1);
	p.t.opts.tids.n = 0;
	p.t.opts.last = 5;
	expect_the_same(&p);
	end(&p);
}

Test(open_pause, has_no_effect_on_several_threads)
{
	struct paused p;

	begin(&p, 0x2000);
	p.t.opts.jobs = 2;
	p.t.opts.slice = 1;
	expect_the_same(&p);
	cr_assert_eq(p.runs, 1);
	end(&p);
}

Test(open_pause, a_paused_recording_can_be_closed)
{
	struct paused p;

	begin(&p, 0x2000);
	p.pauses = true;
	open_recording(&p);
	(void)run(&p);
	cr_assert_eq(p.result, 1);
	ptc_decode_free(p.t.d);
	(void)fclose(p.t.out);
	free(p.t.text);
	end(&p);
}

/* All items in front of the change were given, and none behind. */
Test(open_pause, before_a_change_the_sink_is_called)
{
	struct paused p;
	char *text;

	begin(&p, 0x2000);
	open_recording(&p);
	text = run_all(&p);
	cr_assert_gt(p.changes, 2);
	cr_assert_gt(p.at_change, strlen(text) / 3);
	cr_assert_lt(p.at_change, strlen(text) * 2 / 3);
	free(text);
	end(&p);
}

/* The numbers of the code in front of branches. */
struct numbers {
	struct recording *t;
	uint64_t first, last;
	uint64_t first_state, last_state;
	size_t n;
};

static int number_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct numbers *c = ctx;
	struct ptc_code_part part;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!items[i].from)
			continue;
		ptc_decode_code_part(c->t->d, &items[i], items[i].from, &part);
		cr_assert_leq(part.start, items[i].from);
		cr_assert_gt(part.end, items[i].from);
		c->last = part.number;
		c->last_state = ptc_decode_code_state(c->t->d, &items[i]);
		if (!c->n++) {
			c->first = c->last;
			c->first_state = c->last_state;
		}
		cr_assert_eq(c->last, c->first);
	}
	return 0;
}

/* The same file at the same address has one number, in two processes and after other mappings. */
Test(open_pause, code_of_a_file_keeps_its_number)
{
	struct paused p;
	struct numbers c = { .t = &p.t };
	struct ptc_err err;

	begin(&p, 0x1000);
	p.sink = (struct ptc_sink){ number_items, &c };
	open_recording(&p);
	cr_assert_eq(ptc_decode_run(p.t.d, &p.sink, &err), 0);
	cr_assert_eq(c.n, TURNS);
	cr_assert_neq(c.first_state, c.last_state);
	ptc_decode_free(p.t.d);
	(void)fclose(p.t.out);
	free(p.t.text);
	end(&p);
}
