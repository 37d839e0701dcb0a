/* SPDX-License-Identifier: MIT */
#include "cli/decode/print_threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/err.h"
#include "cli/decode/line_buffer.h"

enum {
	BATCH = 16384,	     /* items until a thread gives its turn away */
	ROOM = BATCH + 1024, /* the decoder gives a few more */
	PART = 512,	     /* items between two looks at the length of the text */
	TEXT_MAX = 1 << 22,  /* bytes of text until it is written */
	SPINS = 2000,	     /* looks at the turn before a thread sleeps */
};

struct thread {
	struct ptc_print_threads *all;
	pthread_t id;
	struct ptc_printer own, *printer; /* the first thread has the caller's printer */
	struct ptc_line own_line;
	struct ptc_item items[ROOM];
	uint64_t counts[ROOM]; /* instructions of each thread up to the item */
	size_t n;
	uint64_t turn;		/* number of its newest turn */
	struct ptc_item before; /* the last instruction in front of the turn */
	bool has_before;
	bool begun; /* some items of this turn are text already */
	struct ptc_buf text;
};

struct ptc_print_threads {
	ptc_print_items *print;
	struct ptc_decode *d;	     /* lent */
	const struct ptc_sink *sink; /* lent */

	pthread_mutex_t turn; /* guards the members up to err */
	struct thread *running;
	struct ptc_tid_counter insns;
	struct ptc_item last; /* the last instruction so far */
	bool has_last, over;
	uint64_t turns;
	int result;
	struct ptc_err *err; /* lent */

	pthread_mutex_t names; /* guards the functions that look up names */

	pthread_mutex_t lock; /* guards the members up to failed */
	pthread_cond_t news;
	uint64_t written; /* number of turns whose text is written */
	size_t behind;	  /* number of threads that print after their turn */
	int error;	  /* errno of a failed write */
	bool failed;	  /* error 0: out of memory */

	struct thread *threads; /* owned */
	size_t n;
};

/* @error: errno of a failed write; 0: out of memory. */
static void fail(struct ptc_print_threads *o, int error)
{
	(void)pthread_mutex_lock(&o->lock);
	if (!o->failed)
		o->error = error;
	o->failed = true;
	(void)pthread_mutex_unlock(&o->lock);
}

static bool has_failed(struct ptc_print_threads *o)
{
	bool failed;

	(void)pthread_mutex_lock(&o->lock);
	failed = o->failed;
	(void)pthread_mutex_unlock(&o->lock);
	return failed;
}

/* Writes the text of @t, behind the text of all earlier turns. */
static void write_text(struct thread *t)
{
	struct ptc_print_threads *o = t->all;

	(void)pthread_mutex_lock(&o->lock);
	while (o->written != t->turn)
		(void)pthread_cond_wait(&o->news, &o->lock);
	(void)pthread_mutex_unlock(&o->lock);
	if (t->text.len && fwrite(t->text.bytes, 1, t->text.len, stdout) != t->text.len)
		fail(o, errno);
	if (t->text.cap > (size_t)2 * TEXT_MAX)
		ptc_buf_release(&t->text);
	ptc_buf_reset(&t->text);
}

/* Turns the items of @t into text. */
static void print_batch(struct thread *t)
{
	struct ptc_print_threads *o = t->all;
	struct ptc_printer *p = t->printer;
	size_t at, n;

	p->counts = p->icount ? t->counts : NULL;
	p->counted = t->items;
	ptc_address_texts_begin(&p->texts);
	if (o->print == ptc_print_insn && !t->begun)
		ptc_print_insn_after(p, t->has_before ? &t->before : NULL);
	for (at = 0; at < t->n && !has_failed(o); at += n) {
		n = t->n - at < PART ? t->n - at : PART;
		(void)o->print(p, t->items + at, n);
		ptc_line_flush(p->line);
		if (t->text.len > TEXT_MAX)
			write_text(t);
	}
	if (p->line->failed) { /* it goes to memory */
		p->line->failed = false;
		fail(o, 0);
	}
	p->counts = NULL;
	t->begun = true;
	t->n = 0;
}

int ptc_print_threads_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_print_threads *o = ctx;
	struct thread *t = o->running;
	const bool icount = t->printer->icount;
	uint64_t *count;
	size_t i;

	for (i = 0; i < n; i++) {
		if (t->n == ROOM)
			print_batch(t);
		t->items[t->n] = items[i];
		if (icount && (o->print != ptc_print_insn || items[i].type == PTC_ITEM_INSN)) {
			count = ptc_tid_counter_of(&o->insns, items[i].tid);
			if (!count)
				fail(o, 0);
			else
				t->counts[t->n] = *count += items[i].insns;
		}
		t->n++;
		if (items[i].type == PTC_ITEM_INSN) {
			o->last = items[i];
			o->has_last = true;
		}
	}
	if (t->n >= BATCH)
		ptc_decode_pause(o->d);
	return has_failed(o);
}

void ptc_print_threads_before(struct ptc_print_threads *o, const struct ptc_item *items, size_t n)
{
	while (n && items[n - 1].type != PTC_ITEM_INSN)
		n--;
	if (!n)
		return;
	o->last = o->running->before = items[n - 1];
	o->has_last = o->running->has_before = true;
	o->running->begun = false; /* nothing was printed yet */
}

/* Looks up all names that are still needed. The calling thread has the turn. */
static void before_change(void *ctx)
{
	struct ptc_print_threads *o = ctx;

	print_batch(o->running);
	(void)pthread_mutex_lock(&o->lock);
	while (o->behind)
		(void)pthread_cond_wait(&o->news, &o->lock);
	(void)pthread_mutex_unlock(&o->lock);
}

/* Locks the turn. Sleeping and waking take longer than most waits. */
static void lock_turn(struct ptc_print_threads *o)
{
	int i;

	for (i = 0; i < SPINS && pthread_mutex_trylock(&o->turn); i++)
		__builtin_ia32_pause();
	if (i == SPINS)
		(void)pthread_mutex_lock(&o->turn);
}

/* Runs the decoder until @t has a batch, or to the end. */
static void use_turn(struct thread *t)
{
	struct ptc_print_threads *o = t->all;
	int r;

	o->running = t;
	t->turn = o->turns++;
	t->before = o->last;
	t->has_before = o->has_last;
	t->begun = false;
	r = ptc_decode_run(o->d, o->sink, o->err);
	if (r != 1) {
		o->over = true;
		o->result = r;
	}
	(void)pthread_mutex_lock(&o->lock);
	o->behind++;
	(void)pthread_mutex_unlock(&o->lock);
}

static void *work(void *ctx)
{
	struct thread *t = ctx;
	struct ptc_print_threads *o = t->all;

	for (;;) {
		lock_turn(o);
		if (o->over)
			break;
		use_turn(t);
		(void)pthread_mutex_unlock(&o->turn);
		print_batch(t);
		(void)pthread_mutex_lock(&o->lock);
		o->behind--;
		(void)pthread_cond_broadcast(&o->news);
		(void)pthread_mutex_unlock(&o->lock);
		write_text(t);
		(void)pthread_mutex_lock(&o->lock);
		o->written++;
		(void)pthread_cond_broadcast(&o->news);
		(void)pthread_mutex_unlock(&o->lock);
	}
	(void)pthread_mutex_unlock(&o->turn);
	return NULL;
}

struct ptc_print_threads *ptc_print_threads_new(struct ptc_printer *p, ptc_print_items *print,
						unsigned int n)
{
	const uint64_t memory = n * (sizeof(struct thread) + (uint64_t)2 * TEXT_MAX);
	struct ptc_print_threads *o = ptc_budget_allows(memory) ? calloc(1, sizeof(*o)) : NULL;
	size_t i;

	if (!o)
		return NULL;
	o->threads = calloc(n, sizeof(*o->threads));
	if (!o->threads) {
		free(o);
		return NULL;
	}
	o->print = print;
	o->d = p->d;
	o->n = n;
	(void)pthread_mutex_init(&o->names, NULL);
	(void)pthread_mutex_init(&o->turn, NULL);
	(void)pthread_mutex_init(&o->lock, NULL);
	(void)pthread_cond_init(&o->news, NULL);
	p->texts.code.lock = &o->names; /* also of the copies below */
	p->texts.others = n - 1;
	for (i = 0; i < n; i++) {
		struct thread *t = &o->threads[i];

		t->all = o;
		t->printer = p;
		if (!i)
			continue;
		t->own = *p;
		t->own.line = &t->own_line;
		t->own_line.into = &t->text;
		t->printer = &t->own;
	}
	return o;
}

void ptc_print_threads_free(struct ptc_print_threads *o)
{
	size_t i;

	if (!o)
		return;
	o->threads->printer->texts.code.lock = NULL;
	for (i = 0; i < o->n; i++) {
		ptc_printer_release(&o->threads[i].own);
		ptc_buf_release(&o->threads[i].text);
	}
	ptc_tid_counter_release(&o->insns);
	(void)pthread_mutex_destroy(&o->names);
	(void)pthread_mutex_destroy(&o->turn);
	(void)pthread_mutex_destroy(&o->lock);
	(void)pthread_cond_destroy(&o->news);
	free(o->threads);
	free(o);
}

int ptc_print_threads_run(struct ptc_print_threads *o, const struct ptc_sink *sink,
			  struct ptc_err *err)
{
	struct ptc_line *line = o->threads->printer->line;
	size_t started = 1, i;

	ptc_line_flush(line);
	line->into = &o->threads->text;
	o->sink = sink;
	o->err = err;
	ptc_decode_on_change(o->d, before_change, o);
	while (started < o->n &&
	       !pthread_create(&o->threads[started].id, NULL, work, &o->threads[started]))
		started++; /* fewer threads do the same */
	(void)work(o->threads);
	for (i = 1; i < started; i++)
		(void)pthread_join(o->threads[i].id, NULL);
	line->into = NULL;
	if (o->failed && !o->error)
		return ptc_fail_mem(err);
	line->failed |= o->failed;
	if (o->failed)
		errno = o->error; /* for ptc_finish_stdout */
	return o->result;
}
