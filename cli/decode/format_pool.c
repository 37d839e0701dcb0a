/* SPDX-License-Identifier: MIT */
#include "cli/decode/format_pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decode/line_buffer.h"

enum {
	SLOT_ITEMS = 512,
	SLOTS_PER_THREAD = 8,
	TEXT_KEPT = 1 << 18,	/* bytes of a slot's buffer that are kept for the next items */
	TEXT_WAITING = 1 << 26, /* bytes that wait until earlier text is written */
};

struct slot {
	struct ptc_item items[SLOT_ITEMS];
	uint64_t counts[SLOT_ITEMS]; /* instructions of each thread up to the item */
	size_t n;
	struct ptc_item before; /* the last instruction in front of the items */
	bool has_before;
	bool done; /* text is complete */
	struct ptc_buf text;
};

struct helper {
	pthread_t id;
	struct ptc_format_pool *pool;
	struct ptc_printer printer;
	struct ptc_line line;
};

struct ptc_format_pool {
	ptc_format_print *print;
	struct ptc_printer *own; /* of the sink's thread */
	sem_t names;		 /* the sink's thread has it between two calls */

	pthread_mutex_t lock;
	pthread_cond_t work; /* a slot is full, or there are no more */
	pthread_cond_t news; /* a slot was printed, or written */
	/* Numbers of slots, ascending: filled >= taken >= written. Slot i is at i % nslots. */
	uint64_t filled, taken, written;
	size_t printing; /* number of threads that print a slot */
	size_t waiting;	 /* bytes of printed text that are not written */
	bool writing;	 /* a thread writes */
	bool failed, over;

	struct slot *slots; /* owned */
	size_t nslots;
	struct helper *helpers; /* owned */
	size_t nhelpers;
};

static struct slot *slot_at(struct ptc_format_pool *o, uint64_t i)
{
	return &o->slots[i % o->nslots];
}

/* Turns the items of @s into text. */
static bool print_slot(const struct ptc_format_pool *o, struct ptc_printer *p, struct slot *s)
{
	struct ptc_line *l = p->line;

	ptc_buf_reset(&s->text);
	l->into = &s->text;
	p->counts = p->icount ? s->counts : NULL;
	p->counted = s->items;
	ptc_address_texts_begin(&p->texts);
	if (o->print == ptc_print_insn)
		ptc_print_insn_after(p, s->has_before ? &s->before : NULL);
	(void)o->print(p, s->items, s->n);
	ptc_line_flush(l);
	l->into = NULL;
	p->counts = NULL;
	return !l->failed;
}

/* Writes printed slots, as far as no earlier one is missing. @o is locked. */
static void write_printed(struct ptc_format_pool *o)
{
	if (o->writing)
		return;
	o->writing = true;
	while (o->written < o->taken && slot_at(o, o->written)->done) {
		struct slot *s = slot_at(o, o->written);
		const size_t len = s->text.len;
		bool ok = true;

		(void)pthread_mutex_unlock(&o->lock);
		if (len)
			ok = fwrite(s->text.bytes, 1, len, stdout) == len;
		if (s->text.cap > TEXT_KEPT)
			ptc_buf_release(&s->text);
		(void)pthread_mutex_lock(&o->lock);
		o->failed |= !ok;
		o->waiting -= len;
		s->done = false;
		o->written++;
		(void)pthread_cond_broadcast(&o->news);
	}
	o->writing = false;
}

/* May a thread print the next slot now? @o is locked. */
static bool can_take(const struct ptc_format_pool *o)
{
	return o->taken < o->filled && (o->waiting < TEXT_WAITING || o->taken == o->written);
}

/* Prints the next slot. @o is locked. */
static void take_slot(struct ptc_format_pool *o, struct ptc_printer *p)
{
	struct slot *s = slot_at(o, o->taken++);
	bool ok;

	o->printing++;
	(void)pthread_mutex_unlock(&o->lock);
	ok = print_slot(o, p, s);
	(void)pthread_mutex_lock(&o->lock);
	o->printing--;
	o->failed |= !ok;
	o->waiting += s->text.len;
	s->done = true;
	(void)pthread_cond_broadcast(&o->news);
	write_printed(o);
}

static void *help(void *ctx)
{
	struct helper *h = ctx;
	struct ptc_format_pool *o = h->pool;

	(void)pthread_mutex_lock(&o->lock);
	while (!o->over) {
		if (can_take(o))
			take_slot(o, &h->printer);
		else
			(void)pthread_cond_wait(o->taken < o->filled ? &o->news : &o->work,
						&o->lock);
	}
	(void)pthread_mutex_unlock(&o->lock);
	return NULL;
}

/* Lets helpers look up names, while this thread prints or waits. */
static void lend_names(struct ptc_format_pool *o)
{
	(void)sem_post(&o->names);
	(void)pthread_mutex_lock(&o->lock);
}

static void take_names_back(struct ptc_format_pool *o)
{
	(void)pthread_mutex_unlock(&o->lock);
	while (sem_wait(&o->names))
		; /* a signal */
}

/* Prints slots, or waits, until the slot that is filled next is free. */
static void await_slot(struct ptc_format_pool *o)
{
	lend_names(o);
	while (o->filled - o->written == o->nslots)
		if (can_take(o))
			take_slot(o, o->own);
		else
			(void)pthread_cond_wait(&o->news, &o->lock);
	take_names_back(o);
}

static void begin_slot(struct ptc_format_pool *o, const struct slot *last)
{
	struct slot *s = slot_at(o, o->filled);
	size_t i;

	s->n = 0;
	if (!last || o->print != ptc_print_insn)
		return;
	s->has_before = last->has_before;
	s->before = last->before;
	for (i = last->n; i && last->items[i - 1].type != PTC_ITEM_INSN; i--)
		;
	if (i) {
		s->has_before = true;
		s->before = last->items[i - 1];
	}
}

/* The items of the current slot can be printed. */
static void end_slot(struct ptc_format_pool *o)
{
	const struct slot *s = slot_at(o, o->filled);
	bool full;

	if (!s->n)
		return;
	(void)pthread_mutex_lock(&o->lock);
	o->filled++;
	full = o->filled - o->written == o->nslots;
	(void)pthread_cond_signal(&o->work);
	(void)pthread_mutex_unlock(&o->lock);
	if (full)
		await_slot(o);
	begin_slot(o, s);
}

/* ptc_print_insn counts instructions only. */
static uint64_t count_item(const struct ptc_format_pool *o, const struct ptc_item *it)
{
	return o->print == ptc_print_insn && it->type != PTC_ITEM_INSN ?
		       0 :
		       ptc_printer_count(o->own, it);
}

int ptc_format_pool_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_format_pool *o = ctx;
	bool failed;

	while (n) {
		struct slot *s = slot_at(o, o->filled);
		const size_t space = SLOT_ITEMS - s->n, k = n < space ? n : space;
		size_t i;

		memcpy(s->items + s->n, items, k * sizeof(*items));
		for (i = 0; o->own->icount && i < k; i++)
			s->counts[s->n + i] = count_item(o, &items[i]);
		s->n += k;
		items += k;
		n -= k;
		if (s->n == SLOT_ITEMS)
			end_slot(o);
	}
	(void)pthread_mutex_lock(&o->lock);
	failed = o->failed;
	(void)pthread_mutex_unlock(&o->lock);
	return failed || o->own->line->failed;
}

void ptc_format_pool_before_change(void *ctx)
{
	struct ptc_format_pool *o = ctx;

	end_slot(o);
	lend_names(o);
	while (o->taken < o->filled || o->printing)
		if (can_take(o))
			take_slot(o, o->own);
		else
			(void)pthread_cond_wait(&o->news, &o->lock);
	take_names_back(o);
}

static void free_pool(struct ptc_format_pool *o)
{
	size_t i;

	for (i = 0; o->slots && i < o->nslots; i++)
		ptc_buf_release(&o->slots[i].text);
	(void)sem_destroy(&o->names);
	(void)pthread_mutex_destroy(&o->lock);
	(void)pthread_cond_destroy(&o->work);
	(void)pthread_cond_destroy(&o->news);
	free(o->slots);
	free(o->helpers);
	free(o);
}

static bool start_helper(struct ptc_format_pool *o, const struct ptc_printer *like)
{
	struct helper *h = &o->helpers[o->nhelpers];

	h->pool = o;
	h->printer = *like;
	h->printer.line = &h->line;
	if (pthread_create(&h->id, NULL, help, h))
		return false;
	o->nhelpers++;
	return true;
}

struct ptc_format_pool *ptc_format_pool_begin(struct ptc_printer *p, ptc_format_print *print,
					      unsigned int helpers)
{
	struct ptc_format_pool *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->print = print;
	o->own = p;
	(void)sem_init(&o->names, 0, 0);
	(void)pthread_mutex_init(&o->lock, NULL);
	(void)pthread_cond_init(&o->work, NULL);
	(void)pthread_cond_init(&o->news, NULL);
	o->nslots = (size_t)SLOTS_PER_THREAD * (helpers + 1);
	o->slots = calloc(o->nslots, sizeof(*o->slots));
	o->helpers = calloc(helpers, sizeof(*o->helpers));
	ptc_line_flush(p->line);
	p->names = &o->names;
	p->texts.others = helpers;
	while (o->slots && o->helpers && o->nhelpers < helpers && start_helper(o, p))
		;
	if (o->nhelpers)
		return o;
	p->names = NULL;
	p->texts.others = 0;
	free_pool(o);
	return NULL;
}

void ptc_format_pool_end(struct ptc_format_pool *o)
{
	size_t i;

	ptc_format_pool_before_change(o);
	lend_names(o);
	while (o->written < o->filled)
		(void)pthread_cond_wait(&o->news, &o->lock);
	o->over = true;
	(void)pthread_cond_broadcast(&o->work);
	(void)pthread_cond_broadcast(&o->news);
	take_names_back(o);
	for (i = 0; i < o->nhelpers; i++) {
		(void)pthread_join(o->helpers[i].id, NULL);
		o->helpers[i].printer.names = NULL;
		ptc_printer_release(&o->helpers[i].printer);
	}
	o->own->names = NULL;
	o->own->line->failed |= o->failed;
	free_pool(o);
}
