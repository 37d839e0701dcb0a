/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

static uint64_t function(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_crash_flow *f = ctx;
	uint64_t off = 0;

	return ip && ptc_decode_symbol(f->d, item, ip, &off) ? ip - off : 0;
}

static const char *name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_crash_flow *f = ctx;
	uint64_t off;

	return ptc_decode_symbol(f->d, item, ip, &off);
}

static uint64_t life(void *ctx, const struct ptc_item *item)
{
	const struct ptc_crash_flow *f = ctx;

	return ptc_decode_life(f->d, item);
}

static void keep_call(struct ptc_crash_flow *f, const struct ptc_call *call)
{
	if (!f->max_calls)
		return;
	f->calls[f->next_call] =
		(struct ptc_flow_call){ call->type, call->how, call->depth, call->ip };
	f->next_call = (f->next_call + 1) % f->max_calls;
	f->ncalls += f->ncalls < f->max_calls;
}

static struct ptc_flow_frame frame_of(const struct ptc_crash_flow *f, const struct ptc_call *call)
{
	struct ptc_flow_frame frame = { .ip = call->ip, .how = call->how };
	const struct ptc_item *it = call->item;

	switch (call->how) {
	case PTC_CALL_BY_CALL:
		frame.has_ret = it->insn_len;
		frame.ret = it->from + it->insn_len;
		break;
	case PTC_CALL_BY_TAIL: /* replaces the frame that was just left */
		frame.has_ret = f->frames[call->depth].has_ret;
		frame.ret = f->frames[call->depth].ret;
		frame.interrupts = f->frames[call->depth].interrupts;
		break;
	case PTC_CALL_BY_SIGNAL:
		frame.has_ret = frame.interrupts = true;
		frame.ret = call->ret;
		break;
	default:
		break;
	}
	return frame;
}

/* --- exceptions --- */

enum { ENTRIES = 4096 }; /* a power of two */

struct ptc_flow_entry {
	uint64_t ip;
	bool throws;
};

bool ptc_crash_flow_is_throw(const char *function)
{
	static const char *const names[] = {
		"__cxa_throw",
		"std::rethrow_exception(std::__exception_ptr::exception_ptr)",
		"_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	};
	size_t i;

	for (i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

static bool is_throw(const struct ptc_crash_flow *f, const struct ptc_item *item, uint64_t ip)
{
	uint64_t off = 0;
	const char *name = ptc_decode_symbol(f->d, item, ip, &off);

	return !off && ptc_crash_flow_is_throw(name);
}

/* Looks up each function about once. If a program is replaced, entries may be of the former one. */
static bool throws(const struct ptc_crash_flow *f, const struct ptc_call *call)
{
	struct ptc_flow_entry *e = &f->entries[(call->ip ^ call->ip >> 12) % ENTRIES];

	if (e->ip != call->ip)
		*e = (struct ptc_flow_entry){ call->ip, is_throw(f, call->item, call->ip) };
	return e->throws;
}

static void keep_throw(struct ptc_crash_flow *f, uint64_t ip)
{
	struct ptc_flow_throw *t = &f->thrown;
	size_t i;

	t->ip = ip;
	t->n = 0;
	for (i = f->n; i > 0 && t->n < PTC_FLOW_RETS && f->frames[i - 1].has_ret; i--)
		t->rets[t->n++] = f->frames[i - 1].ret;
}

static int on_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_crash_flow *f = ctx;

	keep_call(f, call);
	if (call->type != PTC_CALL_ENTER) {
		f->n = call->type == PTC_CALL_LOST ? 0 : call->depth;
		if (f->n && call->how == PTC_CALL_BY_UNWINDING)
			f->frames[f->n - 1].landed = true;
		f->cut &= f->n != 0;
		return 0;
	}
	if (!ptc_grow(&f->frames, &f->cap, (size_t)call->depth + 1, sizeof(*f->frames))) {
		f->no_memory = true;
		return 1;
	}
	if (call->cut && f->n > call->depth) {
		memmove(f->frames, f->frames + (f->n - call->depth),
			call->depth * sizeof(*f->frames));
		f->cut = true;
	}
	f->frames[call->depth] = frame_of(f, call);
	f->n = (size_t)call->depth + 1;
	if (throws(f, call))
		keep_throw(f, call->ip);
	return 0;
}

static void keep_branch(struct ptc_crash_flow *f, const struct ptc_item *it)
{
	f->branches[f->next_branch] = *it;
	f->next_branch = (f->next_branch + 1) % f->max_branches;
	f->nbranches += f->nbranches < f->max_branches;
	f->seen += it->type == PTC_ITEM_BRANCH;
}

/* A gap without a thread is ours if the thread's trace is in that queue. */
static bool is_ours(const struct ptc_crash_flow *f, const struct ptc_item *it)
{
	return it->tid == f->tid ||
	       (it->type == PTC_ITEM_GAP && it->tid < 0 && f->nbranches && it->queue == f->queue);
}

static void keep_exit(struct ptc_crash_flow *f, const struct ptc_item *it)
{
	f->interrupted = it->kind == PTC_KIND_ASYNC;
	f->out_ip = f->interrupted ? it->from : it->from + it->insn_len;
}

static int add_flow_item(struct ptc_crash_flow *f, const struct ptc_item *it)
{
	const size_t n = f->n;
	const struct ptc_flow_frame first = n ? f->frames[0] : (struct ptc_flow_frame){ .ip = 0 };
	bool goes_on;
	int rc;

	if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_GAP)
		return 0;
	if (!is_ours(f, it) || (it->time != PTC_NO_TIME && it->time > f->until_ns))
		return 0;
	if (it->type == PTC_ITEM_BRANCH)
		f->queue = it->queue;
	keep_branch(f, it);
	rc = ptc_calls_item(f->tracker, it);
	if (it->type == PTC_ITEM_BRANCH && !ptc_item_has_to(it)) {
		keep_exit(f, it);
		return rc;
	}
	goes_on = it->type == PTC_ITEM_BRANCH && it->kind == PTC_KIND_START && f->interrupted &&
		  it->to == f->out_ip;
	f->interrupted = false;
	if (goes_on)
		return rc;
	f->arrival = *it;
	f->strayed_n = 0;
	if (it->kind == PTC_KIND_RET && n > 1 && f->n == 1 &&
	    f->frames[0].how == PTC_CALL_BY_RETURN) {
		f->strayed_n = n;
		f->strayed_first = first;
	}
	return rc;
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_crash_flow *f = ctx;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < n; i++)
		rc = add_flow_item(f, &items[i]);
	f->no_memory |= rc == PTC_E_NO_MEMORY;
	return rc;
}

int ptc_crash_flow_run(struct ptc_crash_flow *f, struct ptc_err *err)
{
	const struct ptc_calls_opts opts = { .size = sizeof(struct ptc_calls_opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = f,
					     .life = life,
					     .name = name };
	const struct ptc_sink sink = { on_items, f };
	int rc;

	f->tracker = ptc_calls_new(&opts);
	f->branches = calloc(f->max_branches, sizeof(*f->branches));
	f->calls = calloc(f->max_calls + 1, sizeof(*f->calls));
	f->entries = calloc(ENTRIES, sizeof(*f->entries));
	if (!f->tracker || !f->branches || !f->calls || !f->entries)
		return ptc_fail_mem(err);
	rc = ptc_decode_run(f->d, &sink, err);
	return f->no_memory ? ptc_fail_mem(err) : rc;
}

void ptc_crash_flow_release(struct ptc_crash_flow *f)
{
	ptc_calls_free(f->tracker);
	free(f->branches);
	free(f->calls);
	free(f->frames);
	free(f->entries);
	*f = (struct ptc_crash_flow){ .n = 0 };
}

const struct ptc_item *ptc_crash_flow_branch(const struct ptc_crash_flow *f, size_t i)
{
	const size_t first = f->nbranches < f->max_branches ? 0 : f->next_branch;

	return &f->branches[(first + i) % f->max_branches];
}

const struct ptc_flow_call *ptc_crash_flow_call(const struct ptc_crash_flow *f, size_t i)
{
	const size_t first = f->ncalls < f->max_calls ? 0 : f->next_call;

	return &f->calls[(first + i) % f->max_calls];
}
