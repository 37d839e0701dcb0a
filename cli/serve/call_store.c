/* SPDX-License-Identifier: MIT */
#include "cli/serve/call_store.h"

#include <assert.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/common/number_index.h"
#include "cli/serve/call_record.h"

/* A chunk ends when it has so many events or bytes. */
enum { EVENTS_MAX = 8192, BYTES_MAX = 48 << 10 };

/* An open call. */
struct ptc_open_record {
	struct ptc_served_call call;
	uint64_t record; /* its place in the file; 0: none so far */
};

void ptc_call_store_init(struct ptc_call_store *s, struct ptc_temp_store *file)
{
	*s = (struct ptc_call_store){ .file = file };
}

void ptc_call_store_release(struct ptc_call_store *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->threads[i].stack);
		free(s->threads[i].chunks);
		ptc_buf_release(&s->threads[i].raw);
	}
	free(s->threads);
	ptc_buf_release(&s->bytes);
	*s = (struct ptc_call_store){ .n = 0 };
}

/* Returns the bits of a function in the set of a chunk, as two numbers below PTC_FUNCTION_BITS. */
static void bits_of_function(uint32_t function, uint32_t bits[2])
{
	const uint64_t h = ptc_hash_mix(0, function);

	bits[0] = (uint32_t)(h % PTC_FUNCTION_BITS);
	bits[1] = (uint32_t)((h >> 40) % PTC_FUNCTION_BITS);
}

bool ptc_call_chunk_may_have(const struct ptc_call_chunk *c, uint32_t function)
{
	uint32_t b[2];

	bits_of_function(function, b);
	return c->functions[b[0] / 64] >> b[0] % 64 & c->functions[b[1] / 64] >> b[1] % 64 & 1;
}

static void begin_chunk(struct ptc_stored_thread *t, struct ptc_view_moment at)
{
	t->now = (struct ptc_call_chunk){
		.first = t->entries, .shallow = UINT32_MAX, .begin = at, .end = at
	};
	t->codec = (struct ptc_served_call_codec){
		.last = { .number = t->entries, .begin = at, .end = at }
	};
	ptc_buf_reset(&t->raw);
}

static struct ptc_stored_thread *stored_thread(struct ptc_call_store *s, uint32_t number)
{
	if (number >= s->n && !ptc_grow(&s->threads, &s->cap, number + 1, sizeof(*s->threads)))
		return NULL;
	for (; s->n <= number; s->n++)
		s->threads[s->n] = (struct ptc_stored_thread){ .raw = PTC_BUF_INIT };
	return &s->threads[number];
}

/* Writes records of the open calls that have none. */
static int record_open_calls(struct ptc_call_store *s, struct ptc_stored_thread *t,
			     struct ptc_err *err)
{
	uint64_t at = s->file->size;
	size_t i;

	if (t->recorded == t->depth)
		return 0;
	ptc_buf_reset(&s->bytes);
	for (i = t->recorded; i < t->depth; i++) {
		const struct ptc_call_record record = { .caller = i ? t->stack[i - 1].record : 0,
							.call = t->stack[i].call };

		t->stack[i].record = at + s->bytes.len;
		ptc_call_record_put(&record, &s->bytes);
	}
	t->recorded = t->depth;
	if (ptc_buf_failed(&s->bytes))
		return ptc_fail_mem(err);
	return ptc_temp_store_append(s->file, s->bytes.bytes, s->bytes.len, &at, err);
}

static int end_chunk(struct ptc_call_store *s, struct ptc_stored_thread *t, struct ptc_err *err)
{
	int rc = ptc_buf_failed(&t->raw) ? ptc_fail_mem(err) : record_open_calls(s, t, err);

	if (!rc && t->now.ended)
		rc = ptc_packed_chunk_put(s->file, &t->raw, &t->now.packed, err);
	if (rc)
		return rc;
	t->now.top = t->depth ? t->stack[t->depth - 1].record : 0;
	if (!ptc_grow(&t->chunks, &t->cap, t->n + 1, sizeof(*t->chunks)))
		return ptc_fail_mem(err);
	t->chunks[t->n++] = t->now;
	begin_chunk(t, t->now.end);
	return 0;
}

/* Ends the chunk if it is full. */
static int continue_chunk(struct ptc_call_store *s, struct ptc_stored_thread *t,
			  struct ptc_view_moment at, struct ptc_err *err)
{
	t->now.end = at;
	if (t->now.entries + t->now.ended < EVENTS_MAX && t->raw.len < BYTES_MAX)
		return 0;
	return end_chunk(s, t, err);
}

static void note_entry(struct ptc_call_chunk *c, uint32_t function, uint32_t depth)
{
	uint32_t b[2];

	bits_of_function(function, b);
	c->functions[b[0] / 64] |= UINT64_C(1) << b[0] % 64;
	c->functions[b[1] / 64] |= UINT64_C(1) << b[1] % 64;
	c->shallow = depth < c->shallow ? depth : c->shallow;
	c->deep = depth > c->deep ? depth : c->deep;
	c->entries++;
}

int ptc_call_store_enter(struct ptc_call_store *s, uint32_t thread, uint32_t function, uint8_t how,
			 uint32_t site, struct ptc_view_moment at, struct ptc_err *err)
{
	struct ptc_stored_thread *t = stored_thread(s, thread);

	if (!t || !ptc_grow(&t->stack, &t->stack_cap, t->depth + 1, sizeof(*t->stack)))
		return ptc_fail_mem(err);
	if (!t->entries)
		begin_chunk(t, at);
	if (t->depth)
		t->stack[t->depth - 1].call.calls++;
	note_entry(&t->now, function, (uint32_t)t->depth);
	t->stack[t->depth] = (struct ptc_open_record){ .call = { .number = t->entries++,
								 .depth = (uint32_t)t->depth,
								 .function = function,
								 .site = site,
								 .how = how,
								 .begin = at } };
	t->depth++;
	return continue_chunk(s, t, at, err);
}

int ptc_call_store_leave(struct ptc_call_store *s, uint32_t thread, uint8_t how,
			 struct ptc_view_moment at, struct ptc_served_call *ret,
			 struct ptc_err *err)
{
	struct ptc_stored_thread *t = &s->threads[thread];
	struct ptc_open_record *top = &t->stack[--t->depth];
	struct ptc_served_call *caller = t->depth ? &t->stack[t->depth - 1].call : NULL;
	int rc = 0;

	top->call.how |= (uint8_t)(how << 4);
	top->call.end = at;
	if (caller) {
		caller->inside.insns += at.insns - top->call.begin.insns;
		caller->inside.time_ns += at.time_ns - top->call.begin.time_ns;
	}
	if (t->depth < t->recorded) {
		const struct ptc_call_record record = { .caller = caller ? top[-1].record : 0,
							.call = top->call };

		t->recorded--;
		ptc_buf_reset(&s->bytes);
		ptc_call_record_put(&record, &s->bytes);
		rc = ptc_buf_failed(&s->bytes) ?
			     ptc_fail_mem(err) :
			     ptc_temp_store_replace(s->file, top->record, s->bytes.bytes,
						    s->bytes.len, err);
	} else {
		ptc_served_call_put(&t->codec, &top->call, &t->raw);
		t->now.ended++;
	}
	*ret = top->call;
	return rc ? rc : continue_chunk(s, t, at, err);
}

int ptc_call_store_finish(struct ptc_call_store *s, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->n && !rc; i++) {
		struct ptc_stored_thread *t = &s->threads[i];

		if (t->entries)
			rc = end_chunk(s, t, err);
		free(t->stack);
		t->stack = NULL;
		t->depth = t->recorded = 0;
		ptc_buf_release(&t->raw);
	}
	return rc;
}

/* --- reading --- */

static bool append_call(struct ptc_call_list *l, const struct ptc_served_call *call)
{
	if (!ptc_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return false;
	l->v[l->n++] = *call;
	return true;
}

/* Appends the calls of a stack from record @at on, up to those with numbers below @first. */
static int walk_stack(struct ptc_call_store *s, uint64_t at, uint64_t first,
		      struct ptc_call_list *ret, struct ptc_err *err)
{
	while (at) {
		uint8_t bytes[PTC_CALL_RECORD_SIZE];
		struct ptc_call_record record;
		const int rc = ptc_temp_store_read(s->file, at, bytes, sizeof(bytes), err);

		if (rc)
			return rc;
		ptc_call_record_get(bytes, &record);
		if (record.call.number < first)
			return 0;
		if (record.caller >= at)
			return ptc_fail(err, PTC_E_FORMAT, "the temporary file is damaged");
		if (!append_call(ret, &record.call))
			return ptc_fail_mem(err);
		at = record.caller;
	}
	return 0;
}

int ptc_call_store_open(struct ptc_call_store *s, uint32_t thread, size_t i,
			struct ptc_call_list *ret, struct ptc_err *err)
{
	return i ? walk_stack(s, s->threads[thread].chunks[i - 1].top, 0, ret, err) : 0;
}

int ptc_call_store_entries(struct ptc_call_store *s, uint32_t thread, size_t i,
			   struct ptc_call_list *ret, struct ptc_err *err)
{
	const struct ptc_call_chunk *c = &s->threads[thread].chunks[i];
	struct ptc_served_call_codec codec = {
		.last = { .number = c->first, .begin = c->begin, .end = c->begin }
	};
	struct ptc_numbers from;
	uint32_t left = c->ended;
	int rc = left ? ptc_packed_chunk_get(s->file, &c->packed, &s->bytes, err) : 0;

	from = (struct ptc_numbers){ s->bytes.bytes, s->bytes.bytes + (left ? s->bytes.len : 0),
				     false };
	for (; left && !rc; left--) {
		struct ptc_served_call call;

		if (!ptc_served_call_get(&codec, &from, &call))
			rc = ptc_fail(err, PTC_E_FORMAT, "the temporary file is damaged");
		else if (!append_call(ret, &call))
			rc = ptc_fail_mem(err);
	}
	return rc ? rc : walk_stack(s, c->top, c->first, ret, err);
}

size_t ptc_call_store_at(const struct ptc_stored_thread *t, int axis, uint64_t place)
{
	size_t begin = 0, end = t->n;

	while (begin < end) {
		const size_t mid = begin + (end - begin) / 2;
		const struct ptc_view_moment *at = &t->chunks[mid].end;

		if ((axis ? at->time_ns : at->insns) < place)
			begin = mid + 1;
		else
			end = mid;
	}
	return begin;
}

size_t ptc_call_store_of_number(const struct ptc_stored_thread *t, uint64_t number)
{
	size_t begin = 0, end = t->n;

	if (number >= t->entries)
		return t->n;
	while (end - begin > 1) {
		const size_t mid = begin + (end - begin) / 2;

		if (t->chunks[mid].first <= number)
			begin = mid;
		else
			end = mid;
	}
	/* Of several chunks with this number, the last one has the entry. */
	return begin;
}

static int by_number_down(const void *a, const void *b)
{
	const struct ptc_served_call *x = a, *y = b;

	return x->number > y->number ? -1 : x->number < y->number;
}

int ptc_call_store_stack(struct ptc_call_store *s, uint32_t thread, uint64_t number,
			 struct ptc_call_list *ret, struct ptc_err *err)
{
	const size_t i = ptc_call_store_of_number(&s->threads[thread], number);
	size_t kept = ret->n, k;
	const size_t begin = ret->n;
	uint32_t depth = UINT32_MAX;
	int rc;

	if (i == s->threads[thread].n)
		return 0;
	rc = ptc_call_store_entries(s, thread, i, ret, err);
	if (!rc)
		rc = ptc_call_store_open(s, thread, i, ret, err);
	if (rc)
		return rc;
	qsort(ret->v + begin, ret->n - begin, sizeof(*ret->v), by_number_down);
	/* Before a call, the last entry of each smaller depth is a caller. */
	for (k = begin; k < ret->n; k++) {
		const struct ptc_served_call *call = &ret->v[k];

		if (call->number > number || call->depth >= depth)
			continue;
		depth = call->depth;
		ret->v[kept++] = *call;
	}
	ret->n = kept;
	return 0;
}
