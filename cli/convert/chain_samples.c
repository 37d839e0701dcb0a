/* SPDX-License-Identifier: MIT */
#include "cli/convert/chain_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "cli/calls/call_stream.h"
#include "ptcap/branchsel.h"
#include "ptcap/lookup.h"
#include "ptcap/synth.h"

/* A thread, before its next item. */
struct chain_thread {
	int32_t tid;
	uint64_t until;	      /* instructions until the next sample */
	uint64_t at;	      /* where its block began */
	uint64_t interrupted; /* in the kernel: where user code goes on; 0: not known */
	uint64_t *rets;	      /* owned; return addresses, the outermost first; 0: not known */
	size_t n, cap;
};

struct chaining {
	const struct ptc_chains_opts *opts;
	struct perf_event_attr attr;
	struct ptc_call_stream stream;
	struct chain_thread *threads; /* owned; ascending tid */
	size_t n, cap, newest;
	struct ptc_buf chain;
	int rc;
	struct ptc_err *err;
};

struct perf_event_attr ptc_chains_attr(const struct ptc_chains_opts *opts)
{
	struct perf_event_attr attr;

	(void)ptc_synth_attr(PERF_COUNT_HW_INSTRUCTIONS, opts->period, PERF_SAMPLE_CALLCHAIN, &attr,
			     sizeof(attr));
	attr.exclude_kernel = opts->user_only;
	return attr;
}

static struct chain_thread *chain_of(struct chaining *s, int32_t tid)
{
	struct chain_thread *t;

	if (s->newest < s->n && s->threads[s->newest].tid == tid)
		return &s->threads[s->newest];
	s->newest = PTC_PARTITION_POINT(i, 0, s->n, s->threads[i].tid < tid);
	if (s->newest < s->n && s->threads[s->newest].tid == tid)
		return &s->threads[s->newest];
	if (!ptc_grow(&s->threads, &s->cap, s->n + 1, sizeof(*s->threads)))
		return NULL;
	t = &s->threads[s->newest];
	memmove(t + 1, t, (s->n++ - s->newest) * sizeof(*t));
	*t = (struct chain_thread){ .tid = tid, .until = s->opts->period };
	return t;
}

/* --- the chain --- */

/* Put an address, behind a marker if it is of the other mode than the address before. */
static uint64_t put_address(struct chaining *s, uint64_t addr, bool first, bool *kernel)
{
	const bool now = ptc_is_kernel_ip(addr);
	uint64_t n = 0;

	if (first || now != *kernel) {
		ptc_buf_le64(&s->chain, now ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		n++;
	}
	*kernel = now;
	ptc_buf_le64(&s->chain, addr);
	return n + 1;
}

/* Put the chain of @t at @ip, the innermost address first, with at most PTC_CHAINS_DEPTH entries.
 */
static void put_chain(struct chaining *s, const struct chain_thread *t, uint64_t ip)
{
	const bool in_kernel = ptc_is_kernel_ip(ip);
	uint64_t n, left = in_kernel ? t->interrupted : 0;
	bool kernel = false;
	size_t i;

	ptc_buf_reset(&s->chain);
	n = put_address(s, ip, true, &kernel);
	for (i = t->n; i && n < PTC_CHAINS_DEPTH; i--) {
		const uint64_t ret = t->rets[i - 1];

		if (left && ret && !ptc_is_kernel_ip(ret)) {
			n += put_address(s, left, false, &kernel);
			left = 0;
		}
		if (ret)
			n += put_address(s, ret, false, &kernel);
	}
	if (left && n < PTC_CHAINS_DEPTH)
		(void)put_address(s, left, false, &kernel);
}

static int put_chain_sample(struct chaining *s, const struct chain_thread *t,
			    const struct ptc_item *it, uint64_t ip)
{
	const uint16_t misc = ptc_is_kernel_ip(ip) ? PERF_RECORD_MISC_KERNEL :
						     PERF_RECORD_MISC_USER;
	struct ptc_sample sample = { .ip = ip, .period = s->opts->period };

	if (it->time == PTC_NO_TIME)
		return ptc_fail(s->err, PTC_E_NOT_EXIST,
				"cannot make call chains: the trace has no times");
	sample.id = (struct ptc_sample_id){ .has = s->attr.sample_type,
					    .pid = it->pid,
					    .tid = it->tid,
					    .time = it->time,
					    .id = s->opts->id,
					    .cpu = (uint32_t)it->cpu };
	put_chain(s, t, ip);
	if (ptc_buf_failed(&s->chain))
		return ptc_fail_mem(s->err);
	sample.callchain = ptc_cur_init(s->chain.bytes, s->chain.len);
	return s->opts->put(s->opts->ctx, misc, &sample, s->err);
}

/* --- items --- */

/* The samples of a block. */
struct block_visit {
	struct chaining *s;
	struct chain_thread *t;
	const struct ptc_item *it;
};

static int visit_insn(void *ctx, uint64_t ip)
{
	const struct block_visit *v = ctx;

	if (--v->t->until)
		return 0;
	v->t->until = v->s->opts->period;
	return put_chain_sample(v->s, v->t, v->it, ip);
}

/* Take the samples of the instructions before @it. The branch itself is the last of them. */
static int sample_block(struct chaining *s, struct chain_thread *t, const struct ptc_item *it)
{
	struct block_visit v = { s, t, it };

	if (it->insns < t->until) {
		t->until -= it->insns;
		return 0;
	}
	return ptc_decode_each_insn(s->opts->d, it, t->at, it->from, it->kind == PTC_KIND_ASYNC,
				    visit_insn, &v);
}

/* Returns where user code goes on after the branch @it into the kernel. */
static uint64_t interrupted_at(const struct ptc_item *it)
{
	return it->kind == PTC_KIND_ASYNC ? it->from : it->from + it->insn_len;
}

static int take_chain_item(struct chaining *s, const struct ptc_item *it)
{
	struct chain_thread *t = it->type == PTC_ITEM_BRANCH ? chain_of(s, it->tid) : NULL;
	int rc;

	if (it->type == PTC_ITEM_BRANCH) {
		if (!t)
			return ptc_fail_mem(s->err);
		if (it->insns) {
			rc = sample_block(s, t, it);
			if (rc)
				return rc;
		}
		t->at = it->to;
		if (ptc_is_kernel_ip(it->to) && !ptc_is_kernel_ip(it->from))
			t->interrupted = ptc_item_has_from(it) ? interrupted_at(it) : 0;
	}
	return ptc_call_stream_item(&s->stream, it) ? ptc_fail_mem(s->err) : 0;
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct chaining *s = ctx;
	size_t i;

	ptc_call_stream_begin(&s->stream);
	for (i = 0; i < n && !s->rc; i++)
		s->rc = take_chain_item(s, &items[i]);
	return s->rc != 0;
}

static int on_chain_event(void *ctx, const struct ptc_call_event *e)
{
	struct chaining *s = ctx;
	struct chain_thread *t;

	if (e->call->type == PTC_CALL_LOST)
		return 0;
	t = chain_of(s, e->call->item->tid);
	if (!t)
		return PTC_E_NO_MEMORY;
	if (e->call->type == PTC_CALL_LEAVE) {
		t->n -= t->n > 0;
		return 0;
	}
	if (!ptc_grow(&t->rets, &t->cap, t->n + 1, sizeof(*t->rets)))
		return PTC_E_NO_MEMORY;
	t->rets[t->n++] = e->call->ret;
	return 0;
}

static void release_chaining(struct chaining *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->threads[i].rets);
	free(s->threads);
	ptc_buf_release(&s->chain);
	ptc_call_stream_release(&s->stream);
}

int ptc_chains_run(const struct ptc_chains_opts *opts, struct ptc_err *err)
{
	struct chaining s = {
		.opts = opts, .attr = ptc_chains_attr(opts), .chain = PTC_BUF_INIT, .err = err
	};
	const struct ptc_call_stream_opts calls = { .d = opts->d,
						    .on_event = on_chain_event,
						    .ctx = &s };
	const struct ptc_sink sink = { .on_items = on_items, .ctx = &s };
	struct ptc_err run_err;
	int rc;

	if (ptc_call_stream_init(&s.stream, &calls))
		return ptc_fail_mem(err);
	rc = ptc_decode_run(opts->d, &sink, &run_err);
	if (s.rc)
		rc = s.rc;
	else if (rc)
		*err = run_err;
	release_chaining(&s);
	return rc;
}
