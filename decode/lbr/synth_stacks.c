/* SPDX-License-Identifier: MIT */
#include "ptcap/synth.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sample.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/opts.h"
#include "base/sorted.h"
#include "decode/lbr/call_stack_model.h"
#include "ptcap/decode.h"

/* The state of one thread. */
struct stack {
	int32_t tid;
	uint64_t until;		    /* branches until the next sample */
	uint64_t life;		    /* ptc_decode_life() when it last returned from the kernel */
	uint64_t n;		    /* branches since its begin, or a gap; at most depth are kept */
	struct ptc_branch *entries; /* owned; a ring buffer of depth entries */
	struct ptc_live live;	    /* used instead in call-stack mode */
};

struct stacking {
	const struct ptc_synth_stacks_opts *opts;
	struct perf_event_attr attr;
	uint64_t sel;	      /* with the privilege levels that opts->sel leaves open */
	struct stack *stacks; /* owned; ascending tid */
	size_t n, cap;
	struct ptc_buf entries, rec;
	int rc;
	struct ptc_err *err;
};

static struct perf_event_attr synth_attr(uint64_t config, uint64_t period, uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = PERF_ATTR_SIZE_VER7,
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       sample_type,
		.read_format = PERF_FORMAT_ID,
		.exclude_hv = 1,
		.sample_id_all = 1,
	};
}

static struct perf_event_attr stacks_attr(const struct ptc_synth_stacks_opts *opts)
{
	struct perf_event_attr attr = synth_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, opts->period,
						 PERF_SAMPLE_BRANCH_STACK);

	attr.branch_sample_type = opts->sel;
	attr.exclude_kernel = !(opts->sel & PERF_SAMPLE_BRANCH_KERNEL);
	return attr;
}

/* Copy @attr to the caller's @ret of @size bytes. The caller's kernel header may be another one. */
static bool give_attr(struct perf_event_attr attr, struct perf_event_attr *ret, size_t size)
{
	if (size < PERF_ATTR_SIZE_VER5)
		return false;
	if (size < attr.size)
		attr.size = (uint32_t)(size & ~(size_t)7);
	memset(ret, 0, size);
	memcpy(ret, &attr, size < sizeof(attr) ? size : sizeof(attr));
	return true;
}

bool ptc_synth_attr(uint64_t config, uint64_t period, uint64_t sample_type,
		    struct perf_event_attr *ret, size_t size)
{
	return give_attr(synth_attr(config, period, sample_type), ret, size);
}

/* Copy the caller's options. Errors: as ptc_synth_stacks_run. */
static int take_opts(const struct ptc_synth_stacks_opts *opts, struct ptc_synth_stacks_opts *ret,
		     struct ptc_err *err)
{
	return ptc_opts_take(ret, sizeof(*ret), opts, "PTC_SYNTH_STACKS_OPTS_INIT", err);
}

bool ptc_synth_stacks_attr(const struct ptc_synth_stacks_opts *opts, struct perf_event_attr *ret,
			   size_t size)
{
	struct ptc_synth_stacks_opts known;
	struct ptc_err ignored;

	return !take_opts(opts, &known, &ignored) && give_attr(stacks_attr(&known), ret, size);
}

static struct stack *add_stack(struct stacking *s, size_t at, int32_t tid)
{
	struct stack *t;

	if (!ptc_grow(&s->stacks, &s->cap, s->n + 1, sizeof(*s->stacks)))
		return NULL;
	t = &s->stacks[at];
	memmove(t + 1, t, (s->n - at) * sizeof(*t));
	*t = (struct stack){ .tid = tid, .until = s->opts->period };
	s->n++;
	t->entries = calloc(s->opts->depth, sizeof(*t->entries));
	return t->entries ? t : NULL;
}

static struct stack *stack_of(struct stacking *s, int32_t tid)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, s->n, s->stacks[i].tid < tid);

	return at < s->n && s->stacks[at].tid == tid ? &s->stacks[at] : add_stack(s, at, tid);
}

/* Branches in front of a gap do not belong to the stack behind it, for any thread. */
static void clear_all_stacks(struct stacking *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		s->stacks[i].n = s->stacks[i].live.n = 0;
}

static bool is_call_stack(const struct stacking *s)
{
	return s->sel & PERF_SAMPLE_BRANCH_CALL_STACK;
}

static struct ptc_branch branch_of(const struct stacking *s, uint64_t from, uint64_t to,
				   uint8_t kind)
{
	const bool types = s->opts->sel & PERF_SAMPLE_BRANCH_TYPE_SAVE;

	return (struct ptc_branch){ .from = from,
				    .to = to,
				    .type = types ? ptc_branchsel_type(kind) : 0 };
}

/* Writes the newest entries first. Returns how many. */
static uint64_t put_entries(struct stacking *s, const struct stack *t)
{
	const uint32_t depth = s->opts->depth;
	const uint64_t all = is_call_stack(s) ? t->live.n : t->n, n = all < depth ? all : depth;
	uint64_t i;

	for (i = 1; i <= n; i++)
		if (is_call_stack(s)) {
			const struct ptc_step *call = &t->live.calls[t->live.n - i];
			const struct ptc_branch b = branch_of(s, call->from, call->to, call->kind);

			ptc_branch_put(&s->entries, &b);
		} else {
			ptc_branch_put(&s->entries, &t->entries[(t->n - i) % depth]);
		}
	return n;
}

static int put_sample(struct stacking *s, const struct stack *t, const struct ptc_item *it)
{
	const uint16_t misc = ptc_is_kernel_ip(it->to) ? PERF_RECORD_MISC_KERNEL :
							 PERF_RECORD_MISC_USER;
	struct ptc_sample sample = { .ip = it->to, .period = s->opts->period };

	sample.id = (struct ptc_sample_id){ .has = s->attr.sample_type,
					    .pid = it->pid,
					    .tid = it->tid,
					    .time = it->time,
					    .id = s->opts->id,
					    .cpu = (uint32_t)it->cpu };
	ptc_buf_reset(&s->entries);
	ptc_buf_reset(&s->rec);
	sample.branches.n = put_entries(s, t);
	sample.branches.entries = ptc_cur_init(s->entries.bytes, s->entries.len);
	ptc_sample_put(&s->rec, misc, &sample, &s->attr);
	if (ptc_buf_failed(&s->entries) || ptc_buf_failed(&s->rec))
		return ptc_fail_mem(s->err);
	return s->opts->put(s->opts->ctx, ptc_cur_init(s->rec.bytes, s->rec.len), s->err);
}

static bool take_entry(const struct stacking *s, struct stack *t, const struct ptc_item *it)
{
	const struct ptc_step step = { .from = it->from, .to = it->to, .kind = it->kind };

	if (is_call_stack(s))
		return ptc_live_step(&t->live, &step, NULL);
	t->entries[t->n++ % s->opts->depth] = branch_of(s, it->from, it->to, it->kind);
	return true;
}

/* Returns true if the kernel returned to user space, maybe of another thread or program. */
static bool comes_back(const struct ptc_item *it)
{
	return it->kind == PTC_KIND_START ||
	       (ptc_is_kernel_ip(it->from) && ptc_item_has_to(it) && !ptc_is_kernel_ip(it->to));
}

/* Drops branches from an earlier thread with this tid, or from before an exec. */
static bool begin_life(struct stacking *s, const struct ptc_item *it)
{
	struct stack *t = stack_of(s, it->tid);
	const uint64_t life = ptc_decode_life(s->opts->d, it);

	if (!t)
		return false;
	if (life != t->life)
		t->n = t->live.n = 0;
	t->life = life;
	return true;
}

static int take_branch(struct stacking *s, const struct ptc_item *it)
{
	struct stack *t;

	if (comes_back(it) && !begin_life(s, it))
		return ptc_fail_mem(s->err);
	if (!ptc_item_has_from(it) || !ptc_item_has_to(it) ||
	    !ptc_branchsel_wants(s->sel, it->kind, it->to))
		return 0;
	if (it->time == PTC_NO_TIME)
		return ptc_fail(s->err, PTC_E_NOT_EXIST,
				"cannot make branch stacks: the trace has no times");
	t = stack_of(s, it->tid);
	if (!t || !take_entry(s, t, it))
		return ptc_fail_mem(s->err);
	if (--t->until)
		return 0;
	t->until = s->opts->period;
	return put_sample(s, t, it);
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct stacking *s = ctx;
	size_t i;

	for (i = 0; i < n && !s->rc; i++) {
		if (items[i].type == PTC_ITEM_GAP)
			clear_all_stacks(s);
		else if (items[i].type == PTC_ITEM_BRANCH)
			s->rc = take_branch(s, &items[i]);
	}
	return s->rc != 0;
}

int ptc_synth_stacks_run(const struct ptc_synth_stacks_opts *opts, struct ptc_err *err)
{
	struct ptc_synth_stacks_opts known;
	struct stacking s = {
		.opts = &known, .entries = PTC_BUF_INIT, .rec = PTC_BUF_INIT, .err = err
	};
	const struct ptc_sink sink = { .on_items = on_items, .ctx = &s };
	struct ptc_err run_err;
	int rc = take_opts(opts, &known, err);
	size_t i;

	if (rc)
		return rc;
	if (!known.depth || known.depth > PTC_SYNTH_DEPTH_MAX || !known.period ||
	    known.sel & ~PTC_SYNTH_SEL)
		return ptc_fail(err, PTC_E_USAGE,
				"cannot make branch stacks: depth, period or filter out of range");
	s.attr = stacks_attr(&known);
	s.sel = ptc_branchsel_of(&s.attr);
	rc = ptc_decode_run(known.d, &sink, &run_err);
	if (s.rc)
		rc = s.rc;
	else if (rc)
		*err = run_err;
	for (i = 0; i < s.n; i++) {
		free(s.stacks[i].entries);
		ptc_live_release(&s.stacks[i].live);
	}
	free(s.stacks);
	ptc_buf_release(&s.entries);
	ptc_buf_release(&s.rec);
	return rc;
}
