/* SPDX-License-Identifier: MIT */
#include "cli/calls/call_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ptcap/lookup.h"

enum { SEEN_BITS = 14 };

/* The function of an address, while the mappings do not change. */
struct ptc_function_seen {
	uint64_t ip, code;	    /* code: its number; ip 0: unused */
	uint64_t start;		    /* of the symbol; 0: there is none */
	uint32_t function_plus_one; /* 0: not looked up */
};

/* --- functions --- */

static uint64_t hash_of_function(const void *entry)
{
	const struct ptc_function *f = entry;

	const uint64_t hash = ptc_hash_mix(f->name, (uint64_t)f->file << 1 | f->inlined);

	return ptc_hash_mix(ptc_hash_mix(hash, f->id), f->off);
}

static bool is_same_function(const void *entry, const void *key)
{
	const struct ptc_function *a = entry, *b = key;

	return a->name == b->name && a->file == b->file && a->off == b->off && a->id == b->id &&
	       a->inlined == b->inlined;
}

uint32_t ptc_call_stream_number(struct ptc_call_stream *s, const struct ptc_function *f)
{
	static const struct ptc_number_kind kind = { sizeof(*f), hash_of_function,
						     is_same_function };
	uint32_t number = ptc_number_find(&s->function_index, &kind, s->functions, f);

	if (!number)
		number = ptc_number_append(&s->function_index, &kind, &s->functions, &s->nfunctions,
					   &s->functions_cap, f);
	return number - 1; /* 0 becomes PTC_NO_NUMBER */
}

static uint32_t look_up_function(struct ptc_call_stream *s, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_function f = { .off = ip };
	uint64_t in_function = 0;

	f.file = ptc_names_get(&s->names, ptc_decode_file(s->opts.d, it, ip, &f.off));
	f.name = ptc_names_get(&s->names, ptc_decode_symbol(s->opts.d, it, ip, &in_function));
	f.id = ptc_names_get_file_id(&s->names, s->opts.d, it, ip);
	if (f.file == UINT32_MAX || f.name == UINT32_MAX || f.id == UINT32_MAX)
		return PTC_NO_NUMBER;
	if (f.name)
		f.off -= in_function;
	return ptc_call_stream_number(s, &f);
}

static uint32_t look_up_inlined(struct ptc_call_stream *s, const struct ptc_call *call)
{
	struct ptc_function f = { .name = ptc_names_get(&s->names, call->name), .inlined = true };
	uint64_t off;

	f.file = ptc_names_get(&s->names, ptc_decode_file(s->opts.d, call->item, call->ip, &off));
	f.id = ptc_names_get_file_id(&s->names, s->opts.d, call->item, call->ip);
	if (f.file == UINT32_MAX || f.name == UINT32_MAX || f.id == UINT32_MAX)
		return PTC_NO_NUMBER;
	return ptc_call_stream_number(s, &f);
}

/* Returns the entry of @ip, which is not 0, with its start. */
static struct ptc_function_seen *seen_at(struct ptc_call_stream *s, const struct ptc_item *it,
					 uint64_t ip)
{
	const uint64_t code = ptc_code_parts_at(&s->code, s->opts.d, it, ip)->number;
	const uint64_t hash = ptc_hash_mix(ptc_hash_mix(0, ip), code);
	struct ptc_function_seen *seen = &s->seen[hash >> (64 - SEEN_BITS)];
	uint64_t off = 0;

	if (seen->ip == ip && seen->code == code)
		return seen;
	*seen = (struct ptc_function_seen){ .ip = ip, .code = code };
	if (ptc_decode_symbol(s->opts.d, it, ip, &off))
		seen->start = ip - off;
	return seen;
}

uint32_t ptc_call_stream_function(struct ptc_call_stream *s, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_function_seen *seen;
	uint32_t number;

	if (s->opts.lookup)
		return s->opts.lookup->number(s->opts.ctx, it, ip);
	seen = ip ? seen_at(s, it, ip) : NULL;
	if (seen && seen->function_plus_one)
		return seen->function_plus_one - 1;
	number = look_up_function(s, it, ip);
	if (seen && number != PTC_NO_NUMBER)
		seen->function_plus_one = number + 1;
	return number;
}

/* Returns the number of the function that @call enters. PTC_NO_NUMBER: out of memory. */
static uint32_t entered_function(struct ptc_call_stream *s, const struct ptc_call *call)
{
	if (call->how == PTC_CALL_BY_INLINING)
		return look_up_inlined(s, call);
	return ptc_call_stream_function(s, call->item, call->ip);
}

/* --- threads --- */

static uint64_t thread_life(void *ctx, const struct ptc_item *item)
{
	const struct ptc_call_stream *s = ctx;

	return s->opts.lookup ? s->opts.lookup->life(s->opts.ctx, item) :
				ptc_decode_life(s->opts.d, item);
}

/* Returns the newest thread with this tid. NULL: none. */
static struct ptc_call_thread *find_call_thread(struct ptc_call_stream *s, int32_t tid)
{
	size_t at = s->last_tid;

	if (at >= s->tids.n || s->threads[s->newest[at]].tid != tid)
		at = ptc_idmap_find(&s->tids, tid);
	if (at == SIZE_MAX)
		return NULL;
	s->last_tid = at;
	return &s->threads[s->newest[at]];
}

/* Makes thread @number the newest one with its tid. Returns false if out of memory. */
static bool set_newest(struct ptc_call_stream *s, int32_t tid, uint32_t number)
{
	size_t at = ptc_idmap_find(&s->tids, tid);

	if (at == SIZE_MAX) {
		at = s->tids.n;
		if (!ptc_grow(&s->newest, &s->newest_cap, at + 1, sizeof(*s->newest)) ||
		    !ptc_idmap_add(&s->tids, tid, at))
			return false;
	}
	s->newest[at] = number;
	s->last_tid = at;
	return true;
}

/* Returns the thread of an entry, which may begin a new life. NULL: out of memory. */
static struct ptc_call_thread *entering_thread(struct ptc_call_stream *s,
					       const struct ptc_call *call)
{
	struct ptc_call_thread *t = find_call_thread(s, call->item->tid);
	const uint64_t life = t && t->depth ? t->life : thread_life(s, call->item);
	const uint64_t before = t ? t->last_insns : 0;

	if (t && t->life == life)
		return t;
	if (s->nthreads >= UINT32_MAX - 1 ||
	    !ptc_grow(&s->threads, &s->threads_cap, s->nthreads + 1, sizeof(*s->threads)) ||
	    !set_newest(s, call->item->tid, (uint32_t)s->nthreads))
		return NULL;
	t = &s->threads[s->nthreads++];
	*t = (struct ptc_call_thread){ .pid = call->item->pid,
				       .tid = call->item->tid,
				       .life = life,
				       .first_time = call->item->time,
				       .first_insns = call->insns,
				       .insns_before = before };
	return t;
}

/* --- events --- */

/* Takes the name that the thread has now. */
static void update_name(const struct ptc_call_stream *s, struct ptc_call_thread *t)
{
	const char *name = s->opts.lookup ? s->opts.lookup->thread_name(s->opts.ctx, t->tid) :
					    ptc_decode_thread_name(s->opts.d, t->tid);

	if (name && strcmp(t->name, name) != 0)
		(void)snprintf(t->name, sizeof(t->name), "%s", name);
}

static int enter_function(struct ptc_call_stream *s, const struct ptc_call *call)
{
	struct ptc_call_thread *t = entering_thread(s, call);
	const uint32_t function = t ? entered_function(s, call) : PTC_NO_NUMBER;

	if (function == PTC_NO_NUMBER ||
	    !ptc_grow(&t->stack, &t->cap, t->depth + 1, sizeof(*t->stack)))
		return PTC_E_NO_MEMORY;
	t->stack[t->depth++] = function;
	t->last_time = call->item->time;
	t->last_insns = call->insns;
	update_name(s, t);
	return s->opts.on_event(s->opts.ctx,
				&(struct ptc_call_event){ call, (uint32_t)(t - s->threads),
							  function, t->insns_before });
}

static int leave_function(struct ptc_call_stream *s, const struct ptc_call *call)
{
	struct ptc_call_thread *t = find_call_thread(s, call->item->tid);

	if (!t || !t->depth)
		return 0;
	t->depth--;
	t->last_time = call->item->time;
	t->last_insns = call->insns;
	return s->opts.on_event(s->opts.ctx,
				&(struct ptc_call_event){ call, (uint32_t)(t - s->threads),
							  t->stack[t->depth], t->insns_before });
}

static int report_lost(struct ptc_call_stream *s, const struct ptc_call *call)
{
	/* A gap of a queue is of no thread, even if branches without a thread were seen. */
	const struct ptc_call_thread *t =
		call->item->tid < 0 ? NULL : find_call_thread(s, call->item->tid);
	const uint32_t thread = t ? (uint32_t)(t - s->threads) : PTC_NO_NUMBER;

	return s->opts.on_event(s->opts.ctx,
				&(struct ptc_call_event){ call, thread, PTC_NO_NUMBER, 0 });
}

static int on_balanced_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_call_stream *s = ctx;

	switch (call->type) {
	case PTC_CALL_ENTER:
		return enter_function(s, call);
	case PTC_CALL_LEAVE:
		return leave_function(s, call);
	default:
		return report_lost(s, call);
	}
}

static int on_physical_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_call_stream *s = ctx;

	return s->inlines ? ptc_inline_calls_add(s->inlines, call) : on_balanced_call(s, call);
}

/* --- the decode --- */

uint64_t ptc_call_stream_start(struct ptc_call_stream *s, const struct ptc_item *it, uint64_t ip)
{
	if (!ip)
		return 0;
	return s->opts.lookup ? s->opts.lookup->start(s->opts.ctx, it, ip) :
				seen_at(s, it, ip)->start;
}

static uint64_t function_start(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	return ptc_call_stream_start(ctx, item, ip);
}

static const char *symbol_name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_call_stream *s = ctx;
	uint64_t off;

	return s->opts.lookup ? s->opts.lookup->name(s->opts.ctx, item, ip) :
				ptc_decode_symbol(s->opts.d, item, ip, &off);
}

/* All calls of the thread become unknown to the part. */
static int on_part_step(void *ctx, const struct ptc_part_step *step)
{
	struct ptc_call_stream *s = ctx;
	const int rc = s->opts.on_step(s->opts.ctx, step);
	struct ptc_call_thread *t = find_call_thread(s, step->tid);

	if (t)
		t->depth = 0;
	return rc;
}

static size_t inlined_at(void *ctx, const struct ptc_item *item, uint64_t ip,
			 struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	const struct ptc_call_stream *s = ctx;

	return ptc_decode_inlines(s->opts.d, item, ip, frames);
}

int ptc_call_stream_init(struct ptc_call_stream *s, const struct ptc_call_stream_opts *opts)
{
	const struct ptc_calls_opts calls = { .size = sizeof(struct ptc_calls_opts),
					      .function = function_start,
					      .on_call = on_physical_call,
					      .ctx = s,
					      .life = thread_life,
					      .name = symbol_name,
					      .closes = true };
	const struct ptc_inline_calls_opts inlines = { sizeof(inlines), inlined_at,
						       on_balanced_call, s };

	*s = (struct ptc_call_stream){ .opts = *opts };
	if (opts->on_step)
		s->parts = ptc_part_calls_new(&calls, on_part_step);
	else
		s->calls = ptc_calls_new(&calls);
	s->inlines = opts->inlines ? ptc_inline_calls_new(&inlines) : NULL;
	s->seen = calloc((size_t)1 << SEEN_BITS, sizeof(*s->seen));
	if ((s->calls || s->parts) && s->seen && !s->inlines == !opts->inlines)
		return 0;
	ptc_call_stream_release(s);
	return PTC_E_NO_MEMORY;
}

void ptc_call_stream_release(struct ptc_call_stream *s)
{
	size_t i;

	for (i = 0; i < s->nthreads; i++)
		free(s->threads[i].stack);
	free(s->threads);
	free(s->newest);
	ptc_idmap_release(&s->tids);
	free(s->functions);
	free(s->function_index.slots);
	free(s->seen);
	ptc_names_release(&s->names);
	ptc_calls_free(s->calls);
	ptc_part_calls_free(s->parts);
	ptc_inline_calls_free(s->inlines);
	*s = (struct ptc_call_stream){ .opts = s->opts };
}

void ptc_call_stream_begin(struct ptc_call_stream *s)
{
	ptc_code_parts_begin(&s->code);
}

int ptc_call_stream_item(struct ptc_call_stream *s, const struct ptc_item *it)
{
	return s->parts ? ptc_part_calls_item(s->parts, it) : ptc_calls_item(s->calls, it);
}

int ptc_call_stream_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_call_stream *s = ctx;
	size_t i;
	int rc = 0;

	ptc_call_stream_begin(s);
	for (i = 0; !rc && i < n; i++)
		rc = ptc_call_stream_item(s, &items[i]);
	return rc;
}

int ptc_call_stream_finish(struct ptc_call_stream *s)
{
	return s->parts ? ptc_part_calls_flush(s->parts) : ptc_calls_finish(s->calls);
}

int ptc_call_stream_restore(struct ptc_call_stream *s, int32_t tid, uint32_t function,
			    const struct ptc_open_call *call, uint32_t *ret_thread)
{
	struct ptc_call_thread *t = find_call_thread(s, tid);

	if (!t || !ptc_grow(&t->stack, &t->cap, t->depth + 1, sizeof(*t->stack)))
		return PTC_E_NO_MEMORY;
	t->stack[t->depth++] = function;
	*ret_thread = (uint32_t)(t - s->threads);
	return ptc_calls_restore(s->calls, tid, call);
}

uint32_t ptc_call_stream_thread(struct ptc_call_stream *s, int32_t tid)
{
	const struct ptc_call_thread *t = find_call_thread(s, tid);

	return t ? (uint32_t)(t - s->threads) : PTC_NO_NUMBER;
}

const char *ptc_call_function_name(const struct ptc_call_stream *s, uint32_t number, char *buf,
				   size_t size)
{
	const struct ptc_function *f = &s->functions[number];
	const char *file = ptc_names_of(&s->names, f->file), *base;

	if (f->name)
		return ptc_names_of(&s->names, f->name);
	base = file ? strrchr(file, '/') : NULL;
	if (file)
		(void)snprintf(buf, size, "%s+0x%" PRIx64, base ? base + 1 : file, f->off);
	else
		(void)snprintf(buf, size, "0x%" PRIx64, f->off);
	return buf;
}
