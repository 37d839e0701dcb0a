/* SPDX-License-Identifier: MIT */
#include "capture/soft/lbr.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sample.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/soft/ground_truth.h"
#include "ptcap/branchsel.h"

enum { FIXED = 128 }; /* maximum size of a record without its entries */

/* --- options --- */

static uint32_t size_of(const struct ptc_record_opts *o)
{
	return o->lbr.size ? o->lbr.size : PTC_LBR_SIZE;
}

static bool counts_insns(const struct ptc_record_opts *o)
{
	return o->lbr.sampler && !strncmp(o->lbr.sampler, "instructions", strlen("instructions"));
}

static bool is_counted(const char *event)
{
	static const char *const names[] = { "branches", "branches:u", "instructions",
					     "instructions:u" };
	size_t i;

	for (i = 0; event && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(event, names[i]))
			return true;
	return !event;
}

static int check_spoil(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const struct ptc_lbr_spoil *s = &o->lbr.spoil;
	const bool typed = s->mode == PTC_SPOIL_TYPE || s->mode == PTC_SPOIL_FLAG;

	if (s->mode != PTC_SPOIL_NONE && !s->rate)
		return ptc_fail(err, PTC_E_USAGE, "--lbr-spoil has no rate");
	if (s->mode == PTC_SPOIL_SHIFT && (!s->shift || s->shift > PTC_LBR_SHIFT_MAX))
		return ptc_fail(err, PTC_E_USAGE, "--lbr-spoil can shift branch stacks by 1 to %u",
				PTC_LBR_SHIFT_MAX);
	if (typed && !(o->lbr.branches & PERF_SAMPLE_BRANCH_TYPE_SAVE))
		return ptc_fail(err, PTC_E_USAGE,
				"--lbr-spoil type and flag need branch types (save_type)");
	return 0;
}

int ptc_lbr_check(const struct ptc_record_opts *o, uint64_t data_size, struct ptc_err *err)
{
	const uint64_t sel = o->lbr.branches;

	if (sel & ~PTC_BRANCHSEL_MADE)
		return ptc_fail(err, PTC_E_USAGE,
				"the step and emu sources do not support hv, in_tx, no_tx, "
				"abort_tx and counter (--lbr)");
	if (sel & PERF_SAMPLE_BRANCH_KERNEL)
		return ptc_fail(
			err, PTC_E_USAGE,
			"the step and emu sources do not see branches of the kernel (--lbr k)");
	if (size_of(o) > PTC_LBR_SIZE_MAX)
		return ptc_fail(err, PTC_E_USAGE, "a branch stack has at most %u entries",
				PTC_LBR_SIZE_MAX);
	if (FIXED + (uint64_t)size_of(o) * PTC_BRANCH_SIZE > data_size / 2)
		return ptc_fail(err, PTC_E_USAGE,
				"branch stacks of %u entries need a larger data ring (-m)",
				size_of(o));
	if (!is_counted(o->lbr.sampler))
		return ptc_fail(err, PTC_E_USAGE,
				"the step and emu sources count only branches or instructions for "
				"branch stacks, not '%s'",
				o->lbr.sampler);
	if (o->lbr.freq)
		return ptc_fail(err, PTC_E_USAGE,
				"the step and emu sources do not support a frequency (-F) for "
				"branch stacks; use a period (-c)");
	return check_spoil(o, err);
}

struct perf_event_attr ptc_lbr_attr(const struct ptc_record_opts *o)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = PERF_ATTR_SIZE_VER7,
		.config = counts_insns(o) ? PERF_COUNT_HW_INSTRUCTIONS :
					    PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.sample_period = o->lbr.period ? o->lbr.period : PTC_LBR_PERIOD,
		.sample_type = PTC_SOFT_SAMPLE_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
		.read_format = PERF_FORMAT_ID,
		.branch_sample_type = o->lbr.branches | PERF_SAMPLE_BRANCH_USER,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.enable_on_exec = 1,
		.sample_id_all = 1,
	};
}

const char *ptc_lbr_name(const struct ptc_record_opts *o)
{
	return counts_insns(o) ? "instructions:u" : "branches:u";
}

int ptc_lbr_init(struct ptc_lbr *l, const struct ptc_record_opts *o, struct ptc_lbr_stacks *stacks,
		 struct ptc_records *rec, uint64_t id, struct ptc_truth *truth, struct ptc_err *err)
{
	const struct perf_event_attr attr = ptc_lbr_attr(o);

	*l = (struct ptc_lbr){ .sel = attr.branch_sample_type,
			       .size = size_of(o),
			       .period = attr.sample_period,
			       .counts_insns = counts_insns(o),
			       .stacks = stacks,
			       .rec = rec,
			       .id = id,
			       .truth = truth,
			       .next = attr.sample_period,
			       .entries = PTC_BUF_INIT,
			       .buf = PTC_BUF_INIT };
	ptc_spoiler_init(&l->spoiler, &o->lbr.spoil);
	l->copy = calloc(2 * (size_t)l->size, sizeof(*l->copy));
	return l->copy ? 0 : ptc_fail_mem(err);
}

void ptc_lbr_release(struct ptc_lbr *l)
{
	free(l->copy);
	l->copy = NULL;
	ptc_buf_release(&l->entries);
	ptc_buf_release(&l->buf);
}

/* --- the stack of each thread --- */

void ptc_lbr_stacks_release(struct ptc_lbr_stacks *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->items[i]);
	free(s->items);
	*s = (struct ptc_lbr_stacks){ NULL, 0, 0 };
}

/* Returns the stack of @tid, else an unused one, else NULL. */
static struct ptc_lbr_stack *find_lbr_stack(const struct ptc_lbr_stacks *all, int tid)
{
	struct ptc_lbr_stack *unused = NULL;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->items[i]->tid == tid)
			return all->items[i];
		if (!all->items[i]->tid && !all->items[i]->lent)
			unused = all->items[i];
	}
	return unused;
}

static struct ptc_lbr_stack *stack_of(const struct ptc_lbr *l, int tid)
{
	struct ptc_lbr_stacks *all = l->stacks;
	struct ptc_lbr_stack *s = find_lbr_stack(all, tid);

	if (!s) {
		if (!ptc_vec_reserve((void **)&all->items, &all->cap, all->n + 1,
				     sizeof(struct ptc_lbr_stack *)))
			return NULL;
		s = calloc(1, sizeof(*s) + l->size * sizeof(s->entries[0]));
		if (!s)
			return NULL;
		all->items[all->n++] = s;
	}
	s->tid = tid;
	return s;
}

static bool is_call_stack(const struct ptc_lbr *l)
{
	return l->sel & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* Points *p to @s. A stack with references is not reused for another thread. */
static void lend(struct ptc_lbr_stack **p, struct ptc_lbr_stack *s)
{
	if (s)
		s->lent++;
	if (*p)
		(*p)->lent--;
	*p = s;
}

void ptc_lbr_switch(struct ptc_lbr *l, int pid, int tid)
{
	struct ptc_lbr_stack *s = l->now && l->now->tid == tid ? l->now : stack_of(l, tid);

	if (!s)
		l->rec->no_memory = true;
	else if (!is_call_stack(l))
		s->n = 0;
	if (l->now != s)
		lend(&l->other, l->now);
	lend(&l->now, s);
	l->pid = pid;
	l->tid = tid;
}

void ptc_lbr_forget(const struct ptc_lbr_stacks *s, int tid)
{
	struct ptc_lbr_stack *old = find_lbr_stack(s, tid);

	if (!old || old->tid != tid)
		return;
	old->tid = 0;
	old->n = 0;
}

/* --- branches --- */

static void push_lbr_entry(struct ptc_lbr *l, struct ptc_lbr_stack *s, uint64_t from, uint64_t to,
			   enum ptc_kind kind)
{
	s->entries[s->top++ % l->size] = (struct ptc_branch){
		.from = from,
		.to = to,
		.type = l->sel & PERF_SAMPLE_BRANCH_TYPE_SAVE ? ptc_branchsel_type((uint8_t)kind) :
								0,
		.priv = l->sel & PERF_SAMPLE_BRANCH_PRIV_SAVE ? PERF_BR_PRIV_USER : 0,
	};
	if (s->n < l->size)
		s->n++;
}

void ptc_lbr_branch(struct ptc_lbr *l, uint64_t from, uint64_t to, enum ptc_kind kind, bool frame)
{
	struct ptc_lbr_stack *s = l->now;

	if (!s || !from || !to || !ptc_branchsel_wants(l->sel, (uint8_t)kind, to))
		return;
	if (!is_call_stack(l) || frame) {
		push_lbr_entry(l, s, from, to, kind);
	} else if (kind == PTC_KIND_RET && s->n) {
		s->n--;
		s->top--;
	}
}

/* --- samples --- */

/* Copies the entries, newest first. Returns their number. */
static uint32_t unroll(const struct ptc_lbr *l, const struct ptc_lbr_stack *s,
		       struct ptc_branch *out)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		out[i] = s->entries[(s->top - 1 - i) % l->size];
	return s->n;
}

/* Returns false if the record is not in the ring. */
static bool put_lbr_sample(struct ptc_lbr *l, uint32_t n, uint64_t ip, uint64_t time_ns)
{
	const struct ptc_records *r = l->rec;
	const struct perf_event_attr attr = {
		.sample_type = PTC_SOFT_SAMPLE_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = l->sel,
	};
	struct ptc_sample sample = { .ip = ip, .period = l->period };
	uint32_t i;

	sample.id = (struct ptc_sample_id){ .has = attr.sample_type,
					    .pid = l->pid,
					    .tid = l->tid,
					    .time = time_ns,
					    .id = l->id,
					    .cpu = r->cpu };
	ptc_buf_reset(&l->entries);
	for (i = 0; i < n; i++)
		ptc_branch_put(&l->entries, &l->copy[i]);
	sample.branches.n = n;
	sample.branches.has_hw_idx = l->sel & PERF_SAMPLE_BRANCH_HW_INDEX;
	sample.branches.hw_idx = (l->now->top - 1) % l->size;
	sample.branches.entries = ptc_cur_init(l->entries.bytes, l->entries.len);
	ptc_buf_reset(&l->buf);
	ptc_sample_put(&l->buf, PERF_RECORD_MISC_USER, &sample, &attr);
	if (!ptc_buf_failed(&l->entries) && !ptc_buf_failed(&l->buf))
		return !ptc_softring_record(r->ring, l->buf.bytes, l->buf.len, &sample.id);
	l->rec->no_memory = true;
	return false;
}

static void put_truth_notes(const struct ptc_lbr *l, const struct ptc_lbr_note *sample,
			    const struct ptc_spoilt *spoilt, size_t n)
{
	struct ptc_lbr_note note = *sample;
	size_t i;

	ptc_truth_put_note(l->truth, sample);
	note.mode = l->spoiler.opts.mode;
	for (i = 0; i < n; i++) {
		note.index = spoilt[i].index;
		note.from = spoilt[i].from;
		note.to = spoilt[i].to;
		ptc_truth_put_note(l->truth, &note);
	}
}

void ptc_lbr_sample(struct ptc_lbr *l, uint64_t ip, uint64_t tsc)
{
	struct ptc_branch *other = l->copy + l->size;
	struct ptc_spoilt spoilt[PTC_LBR_SHIFT_MAX];
	struct ptc_lbr_note note = { .time_ns = ptc_records_time(l->rec, tsc), .ip = ip };
	uint32_t n, nother;
	size_t nspoilt;

	if (!l->now) /* there was no memory for a stack */
		return;
	note.tid = l->tid;
	note.n = n = unroll(l, l->now, l->copy);
	nother = l->other && l->other != l->now ? unroll(l, l->other, other) : 0;
	nspoilt = ptc_spoiler_take(&l->spoiler, l->copy, &n, other, nother, spoilt);
	if (put_lbr_sample(l, n, ip, note.time_ns) && l->truth)
		put_truth_notes(l, &note, spoilt, nspoilt);
}
