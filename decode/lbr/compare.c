/* SPDX-License-Identifier: MIT */
#include "ptcap/compare.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/opts.h"
#include "decode/lbr/candidates.h"
#include "decode/lbr/compare_calls.h"
#include "decode/lbr/compare_own.h"
#include "decode/lbr/jcc_to_next.h"
#include "decode/lbr/stale_entries.h"
#include "decode/lbr/thread_history.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_lookup.h"
#include "ptcap/branchsel.h"

/* Only some of the stacks that end at the ip are checked for other possible shifts. */
enum { SHIFTS_EVERY = 16, SHIFTS_FIRST = 4096 };

struct waiting {
	uint64_t time;
	struct ptc_rec rec;
};

struct comparing {
	const struct ptc_compare_opts *opts;
	struct waiting *samples; /* owned; by time */
	size_t n, cap, next;
	struct ptc_thread_history recent;
	struct ptc_align align;
	struct ptc_stale foreign;
	struct ptc_compare_calls calls;
	struct ptc_onward onward;
	uint64_t total;		    /* entries */
	struct ptc_branch *entries; /* owned */
	size_t entries_cap;
	struct ptc_align_entry verdicts[PTC_ALIGN_ENTRIES];
	struct ptc_compare_entry given[PTC_ALIGN_ENTRIES]; /* to on_sample */
	bool timed;					   /* the trace has times */
	bool narrow; /* some filters let few branches through: their stacks reach far back */
	int rc;
	struct ptc_err *err;
};

/* The sample that is judged now. */
struct judged {
	const struct ptc_sample *sample;
	const struct ptc_file_attr *attr;
	enum ptc_compare_skip skip;
	size_t n;		      /* of c->entries */
	const struct ptc_step *steps; /* the steps that the verdicts refer to */
	struct ptc_align_result place;
};

const char *ptc_compare_skip_name(enum ptc_compare_skip skip)
{
	static const char *const names[PTC_COMPARE_SKIPS] = {
		[PTC_COMPARE_JUDGED] = "judged",
		[PTC_COMPARE_NO_TIME] = "no time, or no thread",
		[PTC_COMPARE_NO_THREAD] = "thread not in the trace",
		[PTC_COMPARE_STACK] = "call-stack mode of the kernel",
		[PTC_COMPARE_LONG] = "too many entries",
		[PTC_COMPARE_FORGOTTEN] = "thread forgotten for others",
	};

	return skip < PTC_COMPARE_SKIPS ? names[skip] : "?";
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->rec.off < y->rec.off ? -1 : x->rec.off > y->rec.off;
}

static const struct ptc_file *file_of(const struct comparing *c)
{
	return ptc_decode_input(c->opts->d)->file;
}

/* Does its filter let nearly all branches of user space through? */
static bool is_of_all(const struct perf_event_attr *attr)
{
	const uint64_t sel = ptc_branchsel_of(attr);

	return sel & PERF_SAMPLE_BRANCH_ANY && sel & PERF_SAMPLE_BRANCH_USER;
}

static int add_sample(struct comparing *c, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(file_of(c), rec);
	struct ptc_sample s;

	if (!a || !(a->attr.sample_type & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	if (ptc_sample_parse(rec, &a->attr, &s, err))
		return ptc_file_err_name(file_of(c), err);
	c->total += s.branches.n;
	c->recent.calls |= (a->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
	c->narrow |= !is_of_all(&a->attr);
	if (!ptc_grow(&c->samples, &c->cap, c->n + 1, sizeof(*c->samples)))
		return ptc_fail_mem(err);
	c->samples[c->n++] = (struct waiting){ .time = s.id.time, .rec = *rec };
	return 0;
}

/* Load all samples with a branch stack, in order of time. */
static int load(struct comparing *c, struct ptc_err *err)
{
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(file_of(c), &pos, &rec, err)) > 0) {
		rc = rec.type == PERF_RECORD_SAMPLE ? add_sample(c, &rec, err) : 0;
		if (rc)
			return rc;
	}
	if (c->n)
		qsort(c->samples, c->n, sizeof(*c->samples), by_time);
	return rc;
}

/* Take all entries of the branch stack, except entries that the processor has not used yet. */
static int take_entries(struct comparing *c, const struct ptc_sample *s, size_t *ret_n,
			struct ptc_err *err)
{
	struct ptc_branches b = s->branches;
	size_t n = 0;

	if (!ptc_grow(&c->entries, &c->entries_cap, b.n + 1, sizeof(*c->entries)))
		return ptc_fail_mem(err);
	while (ptc_branches_next(&b, &c->entries[n]))
		n++;
	while (n && !c->entries[n - 1].from && !c->entries[n - 1].to)
		n--;
	*ret_n = n;
	return 0;
}

static bool is_call_stack(const struct judged *s)
{
	return s->attr->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

static struct ptc_place place_of_sample(const struct comparing *c, const struct judged *s)
{
	const uint64_t at = s->sample->id.time, slack = c->opts->slack_ns;

	return (struct ptc_place){ .wants = ptc_wants_of(&s->attr->attr),
				   .ip = s->sample->ip,
				   .since = at > slack ? at - slack : 0 };
}

/* Align a stack that is not found exactly. */
static int align_closely(struct comparing *c, const struct ptc_place *place,
			 struct ptc_thread_history_thread *t, struct ptc_align_in *in,
			 struct judged *s)
{
	const size_t first = ptc_place_steps(place, t, s->n);
	int rc;

	if (is_call_stack(s)) {
		rc = ptc_compare_calls_run(&c->calls, &c->align, t, first, in, c->verdicts,
					   &s->place);
	} else {
		in->steps = t->steps + first;
		in->nsteps = t->n - first;
		in->begins = !first;
		rc = ptc_stale_run(&c->foreign, &c->align, &c->recent, t, in, &s->attr->attr,
				   c->verdicts, &s->place);
	}
	s->steps = in->steps;
	return rc;
}

/* Returns the address space of the sample's process at the sample's time. */
static const struct ptc_addrspace *code_of(const struct comparing *c, const struct judged *s)
{
	const struct ptc_proc *p = ptc_decode_process(c->opts->d, s->sample->id.pid);

	return p ? &p->as : NULL;
}

static int align_branches(struct comparing *c, struct ptc_thread_history_thread *t,
			  struct ptc_align_in *in, struct judged *s)
{
	const struct ptc_place place = place_of_sample(c, s);
	uint32_t shifts = 0;
	size_t nsteps = t->n;
	int rc = 0;

	in->n = ptc_onward_take(&c->onward, code_of(c, s), c->entries, s->n);
	if (ptc_place_exact(&place, t, in, c->verdicts, &s->place)) {
		if (c->next % SHIFTS_EVERY == 0 || c->next < SHIFTS_FIRST)
			s->place.shifts = ptc_place_shifts(&place, t, in);
	} else {
		shifts = ptc_place_shifts(&place, t, in);
		rc = align_closely(c, &place, t, in, s);
		s->place.shifts = shifts;
		nsteps = in->nsteps;
	}
	if (!rc && c->onward.n)
		ptc_onward_put(&c->onward, in, &place.wants, s->steps, nsteps, c->entries,
			       c->verdicts);
	return rc;
}

static int align(struct comparing *c, struct judged *s)
{
	const uint64_t asked = s->attr->attr.branch_sample_type;
	struct ptc_thread_history_thread *t =
		ptc_thread_history_find(&c->recent, s->sample->id.tid);
	const struct ptc_place place = place_of_sample(c, s);
	struct ptc_align_in in = { .entries = c->entries,
				   .n = s->n,
				   .types = asked & PERF_SAMPLE_BRANCH_TYPE_SAVE,
				   .flags = !(asked & PERF_SAMPLE_BRANCH_NO_FLAGS) };

	if (!t || !t->n) {
		s->skip = t ? PTC_COMPARE_FORGOTTEN : PTC_COMPARE_NO_THREAD;
		return 0;
	}
	s->steps = t->steps;
	return is_call_stack(s) ? align_closely(c, &place, t, &in, s) :
				  align_branches(c, t, &in, s);
}

static enum ptc_compare_skip why_not(const struct comparing *c, const struct judged *s)
{
	const uint64_t need = PERF_SAMPLE_TIME | PERF_SAMPLE_TID;

	if (is_call_stack(s) && ptc_branchsel_of(&s->attr->attr) & PERF_SAMPLE_BRANCH_KERNEL)
		return PTC_COMPARE_STACK;
	if (s->n > PTC_ALIGN_ENTRIES)
		return PTC_COMPARE_LONG;
	return !c->timed || (s->sample->id.has & need) != need ? PTC_COMPARE_NO_TIME :
								 PTC_COMPARE_JUDGED;
}

static void set_entries(struct comparing *c, const struct judged *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct ptc_align_entry *v = &c->verdicts[i];

		c->given[i] = (struct ptc_compare_entry){
			.branch = &c->entries[i],
			.step = v->step == PTC_ALIGN_NONE ? NULL : &s->steps[v->step],
			.missing = v->missing,
			.verdict = v->verdict,
			.cause = v->cause,
		};
	}
}

/* Give the sample to the caller. Returns false if out of memory. */
static bool give_sample(struct comparing *c, const struct judged *s, uint64_t off)
{
	const struct ptc_sample_id *id = &s->sample->id;
	const struct ptc_compare_own own = { .entries = c->given, .steps = s->steps };
	const struct ptc_compare_sample given = {
		.sample = s->sample,
		.attr = s->attr,
		.off = off,
		.where = { .time = id->time,
			   .pid = id->pid,
			   .tid = id->tid,
			   .cpu = id->has & PERF_SAMPLE_CPU ? (int32_t)id->cpu : -1 },
		.skip = s->skip,
		.n = s->n,
		.candidates = s->place.candidates,
		.fits = s->place.fits,
		.limited = s->place.limited,
		.shift = s->place.shift,
		.shifts = s->place.shifts,
		.own = &own,
	};

	if (s->skip == PTC_COMPARE_JUDGED)
		set_entries(c, s);
	return c->opts->on_sample(c->opts->ctx, &given);
}

static int judge_sample(struct comparing *c, const struct ptc_rec *rec)
{
	struct ptc_sample parsed;
	struct judged s = { .sample = &parsed };

	s.attr = ptc_file_sample_attr(file_of(c), rec);
	if (ptc_sample_parse(rec, &s.attr->attr, &parsed, c->err))
		return ptc_file_err_name(file_of(c), c->err);
	if (take_entries(c, &parsed, &s.n, c->err))
		return c->err->code;
	s.skip = why_not(c, &s);
	if (s.skip == PTC_COMPARE_JUDGED && align(c, &s))
		return ptc_fail_mem(c->err);
	return give_sample(c, &s, rec->off) ? 0 : ptc_fail_mem(c->err);
}

/* Judge the samples that no item from @time on can be part of. */
static int judge_until(struct comparing *c, uint64_t time)
{
	int rc = 0;

	for (; c->next < c->n && !rc; c->next++) {
		const struct waiting *w = &c->samples[c->next];

		if (time != PTC_NO_TIME && (w->time >= time || time - w->time <= c->opts->slack_ns))
			break;
		if (c->next + 1 >= c->opts->first && c->next + 1 <= c->opts->last)
			rc = judge_sample(c, &w->rec);
	}
	return rc;
}

/* Returns the time from which on no item can be part of the next sample. */
static uint64_t due(const struct comparing *c)
{
	const uint64_t time = c->next < c->n ? c->samples[c->next].time : PTC_NO_TIME;

	return time < PTC_NO_TIME - c->opts->slack_ns ? time + c->opts->slack_ns + 1 : PTC_NO_TIME;
}

/* Returns the time before which no item can be part of a sample. */
static uint64_t since(const struct comparing *c)
{
	const uint64_t time = c->next < c->n ? c->samples[c->next].time : PTC_NO_TIME;

	return time > c->opts->slack_ns ? time - c->opts->slack_ns : 0;
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct comparing *c = ctx;
	size_t i;

	for (i = 0; i < n && !c->timed; i++)
		c->timed = items[i].time != PTC_NO_TIME;
	for (i = 0; i < n;) {
		ptrdiff_t k;

		if (!c->narrow)
			c->recent.since = since(c);
		k = ptc_thread_history_items(&c->recent, due(c), items + i, n - i);
		if (k < 0)
			c->rc = ptc_fail_mem(c->err);
		i += k < 0 ? 0 : (size_t)k;
		if (k >= 0 && i < n)
			c->rc = judge_until(c, items[i].time);
		if (c->rc)
			return 1;
	}
	return 0;
}

static int replay(struct comparing *c, struct ptc_err *err)
{
	const struct ptc_sink sink = { .on_items = on_items, .ctx = c };
	struct ptc_err run_err;
	int rc = ptc_decode_run(c->opts->d, &sink, &run_err);

	if (c->rc)
		return c->rc;
	if (rc) {
		*err = run_err;
		return rc;
	}
	return judge_until(c, PTC_NO_TIME);
}

static void give_total(const struct comparing *c, bool traced, struct ptc_compare_total *ret)
{
	const struct ptc_compare_total total = { .samples = c->n,
						 .entries = c->total,
						 .forgotten = c->recent.forgotten,
						 .traced = traced };

	ptc_opts_give(ret, &total, sizeof(total));
}

int ptc_compare_run(const struct ptc_compare_opts *opts, struct ptc_compare_total *ret,
		    struct ptc_err *err)
{
	struct ptc_compare_opts known;
	struct comparing *c;
	bool traced;
	int rc = ptc_opts_take(&known, sizeof(known), opts, "PTC_COMPARE_OPTS_INIT", err);

	if (rc)
		return rc;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ptc_fail_mem(err);
	c->opts = &known;
	c->err = err;
	traced = ptc_decode_input(known.d)->nlanes;
	rc = load(c, err);
	if (!rc && c->n && traced)
		rc = replay(c, err);
	if (!rc)
		give_total(c, traced, ret);
	ptc_thread_history_release(&c->recent);
	ptc_compare_calls_release(&c->calls);
	ptc_align_release(&c->align);
	ptc_stale_release(&c->foreign);
	free(c->samples);
	free(c->entries);
	free(c);
	return rc;
}
