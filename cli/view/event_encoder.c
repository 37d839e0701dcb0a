/* SPDX-License-Identifier: MIT */
#include "cli/view/event_encoder.h"

#include <stdlib.h>

enum { TABLE_BITS = 16, TABLE = 1 << TABLE_BITS };
enum { MISSES_OP = 1, MISSES_INSNS = 2, MISSES_SITE = 4, MISS_BITS = 3 };

struct ptc_event_tables {
	uint32_t op[TABLE], site[TABLE];
	uint64_t insns[TABLE];
};

void ptc_put_leb128(struct ptc_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		ptc_buf_u8(b, (uint8_t)(v | 0x80));
	ptc_buf_u8(b, (uint8_t)v);
}

/* Returns a hash of the running function and the last function called from there. */
static uint32_t hash_of_context(uint32_t in, uint32_t last)
{
	uint32_t h = (in * UINT32_C(0x9e3779b1) ^ last) * UINT32_C(0x85ebca6b);

	h = (h ^ h >> 15) * UINT32_C(0x2c1b3c6d);
	return h ^ h >> 13;
}

/* Returns @context with the event mixed in. */
static uint32_t hash_of_op(uint32_t context, uint32_t op)
{
	const uint32_t h = (context ^ (op + 1) * UINT32_C(0x9e3779b1)) * UINT32_C(0x85ebca6b);

	return h ^ h >> 14;
}

bool ptc_event_encoder_init(struct ptc_event_encoder *e)
{
	*e = (struct ptc_event_encoder){ .tables = calloc(1, sizeof(*e->tables)) };
	return e->tables != NULL;
}

static void each_column(struct ptc_event_encoder *e, void (*fn)(struct ptc_buf *))
{
	struct ptc_buf *const columns[] = { &e->misses, &e->ops,     &e->insns,
					    &e->sites,	&e->threads, &e->times };
	size_t i;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fn(columns[i]);
}

void ptc_event_encoder_release(struct ptc_event_encoder *e)
{
	free(e->tables);
	e->tables = NULL;
	each_column(e, ptc_buf_release);
}

static void add_thread(struct ptc_event_encoder *e, const struct ptc_coded_event *event)
{
	if (e->n && event->thread == e->thread)
		return;
	ptc_put_leb128(&e->threads, e->n - e->last_switch);
	ptc_put_leb128(&e->threads, event->thread);
	e->last_switch = e->n;
	e->thread = event->thread;
}

static void add_time(struct ptc_event_encoder *e, uint64_t time_ns)
{
	if (!time_ns) {
		e->still++;
		return;
	}
	ptc_put_leb128(&e->times, e->still);
	ptc_put_leb128(&e->times, time_ns);
	e->still = 0;
}

void ptc_event_encoder_add(struct ptc_event_encoder *e, const struct ptc_coded_event *event)
{
	const uint32_t context = hash_of_context(event->in, event->last);
	const uint32_t a = context % TABLE, b = hash_of_op(context, event->op) % TABLE;
	struct ptc_event_tables *t = e->tables;
	const unsigned int miss = (t->op[a] == event->op ? 0 : MISSES_OP) |
				  (t->insns[b] == event->insns ? 0 : MISSES_INSNS) |
				  (t->site[b] == event->site ? 0 : MISSES_SITE);

	add_thread(e, event);
	add_time(e, event->time_ns);
	e->n++;
	if (!miss) {
		e->run++;
		return;
	}
	ptc_put_leb128(&e->misses, e->run << MISS_BITS | miss);
	e->run = 0;
	if (miss & MISSES_OP)
		ptc_put_leb128(&e->ops, event->op);
	if (miss & MISSES_INSNS)
		ptc_put_leb128(&e->insns, event->insns);
	if (miss & MISSES_SITE)
		ptc_put_leb128(&e->sites, event->site);
	t->op[a] = event->op;
	t->insns[b] = event->insns;
	t->site[b] = event->site;
}

bool ptc_event_encoder_take(struct ptc_event_encoder *e, struct ptc_buf *ret)
{
	struct ptc_buf *const columns[] = { &e->misses, &e->ops,     &e->insns,
					    &e->sites,	&e->threads, &e->times };
	bool failed = false;
	size_t i;

	ptc_put_leb128(ret, e->n);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		ptc_put_leb128(ret, columns[i]->len);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		failed |= ptc_buf_failed(columns[i]);
		if (columns[i]->len)
			ptc_buf_put(ret, columns[i]->bytes, columns[i]->len);
	}
	each_column(e, ptc_buf_reset);
	e->n = e->run = e->still = e->last_switch = 0;
	return !failed && !ptc_buf_failed(ret);
}
