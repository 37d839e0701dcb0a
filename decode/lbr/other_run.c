/* SPDX-License-Identifier: MIT */
#include "ptcap/compare_runs.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/opts.h"
#include "decode/lbr/code_changes.h"
#include "decode/lbr/compare_own.h"
#include "decode/lbr/flow_code.h"
#include "decode/lbr/flow_places.h"
#include "decode/lbr/flow_table.h"
#include "decode/lbr/program_match.h"
#include "decode/session/decode_input.h"
#include "decode/session/decoder.h"
#include "decode/session/item_lookup.h"
#include "ptcap/branchsel.h"

/* RESUMES, LINKS: places and pairs that are kept. NEAR: bytes of straight-line code behind such a
 * place. */
enum { RESUMES = 1024, NEAR = 1 << 12, SYSCALL_LEN = 2, LINKS = 1 << 14 };

struct waiting {
	uint64_t time;
	struct ptc_rec rec;
};

struct link_key {
	const struct ptc_addrspace *as; /* NULL: unused */
	uint64_t version, to, from;
};

struct link {
	struct link_key key;
	enum ptc_flow_link_is is;
};

struct other {
	const struct ptc_runs_opts *opts;
	struct waiting *samples; /* owned; by time */
	size_t n, cap;
	struct ptc_branch *entries; /* owned */
	size_t entries_cap;
	struct ptc_flow_places places;
	struct ptc_code_changes changes;
	struct ptc_flow_table table;
	/*
	 * Places in the trace where the kernel continued the program elsewhere than where the
	 * program had entered it: handlers of signals, and places behind these.
	 */
	uint64_t resumes[RESUMES];
	size_t nresumes;
	bool many_resumes;
	uint64_t
		expected[PTC_FLOW_THREADS]; /* where a thread in the kernel continues; 0: no exit */
	uint64_t lives[PTC_FLOW_THREADS];   /* of the threads: ptc_decode_life */
	struct link links[LINKS];	    /* results for pairs of entries */
	uint64_t work;
	uint32_t numbers[PTC_ALIGN_ENTRIES]; /* of a stack, oldest first */
	uint8_t verdicts[PTC_ALIGN_ENTRIES];
	struct ptc_runs_entry given[PTC_ALIGN_ENTRIES]; /* to on_sample */
	bool judging;					/* the second time */
	struct ptc_runs_total total;
	int rc;
	struct ptc_err *err;
};

/* --- the stacks --- */

static const struct ptc_file *stacks_file(const struct other *o)
{
	return ptc_decode_input(o->opts->a)->file;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->rec.off < y->rec.off ? -1 : x->rec.off > y->rec.off;
}

static int add_stack_sample(struct other *o, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(stacks_file(o), rec);
	struct ptc_sample s;

	if (!a || !(a->attr.sample_type & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	if (ptc_sample_parse(rec, &a->attr, &s, o->err))
		return ptc_file_err_name(stacks_file(o), o->err);
	if (!ptc_grow(&o->samples, &o->cap, o->n + 1, sizeof(*o->samples)))
		return ptc_fail_mem(o->err);
	o->samples[o->n++] = (struct waiting){ .time = s.id.time, .rec = *rec };
	o->total.entries += s.branches.n;
	return 0;
}

static int load_stacks(struct other *o)
{
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(stacks_file(o), &pos, &rec, o->err)) > 0) {
		rc = rec.type == PERF_RECORD_SAMPLE ? add_stack_sample(o, &rec) : 0;
		if (rc)
			return rc;
	}
	if (o->n)
		qsort(o->samples, o->n, sizeof(*o->samples), by_time);
	o->total.samples = o->n;
	return rc;
}

/* Reads the entries without the unused ones at the end. Returns false if out of memory. */
static bool read_entries(struct other *o, const struct ptc_sample *s, size_t *ret_n)
{
	struct ptc_branches b = s->branches;
	size_t n = 0;

	if (!ptc_grow(&o->entries, &o->entries_cap, b.n + 1, sizeof(*o->entries)))
		return false;
	while (ptc_branches_next(&b, &o->entries[n]))
		n++;
	while (n && !o->entries[n - 1].from && !o->entries[n - 1].to)
		n--;
	*ret_n = n;
	return true;
}

/* A stack with the code of its process. */
struct stack {
	const struct ptc_addrspace *as;
	const struct ptc_branch *entries;
	size_t n;
	bool types, all; /* entries have types; the filter passes all branches of user space */
	int filter;
	int32_t pid;
};

/* Is the place in a file that the other run has mapped, too? */
static bool is_common(const struct other *o, uint64_t place)
{
	return place && ptc_flow_object_of(&o->places, place)->other;
}

/* Judges entry @i alone. *@ret_number: of its edge; 0: none. @ret_next: see ptc_flow_code_edge. */
static enum ptc_runs_verdict judge_edge(struct other *o, const struct stack *s, size_t i,
					uint32_t *ret_number, bool *ret_next)
{
	static const enum ptc_runs_verdict of_code[] = {
		[PTC_FLOW_EDGE_POSSIBLE] = PTC_RUNS_POSSIBLE,
		[PTC_FLOW_EDGE_TARGET] = PTC_RUNS_TARGET,
		[PTC_FLOW_EDGE_SOURCE] = PTC_RUNS_SOURCE,
		[PTC_FLOW_EDGE_TYPE] = PTC_RUNS_TYPE,
		[PTC_FLOW_EDGE_NO_CODE] = PTC_RUNS_NO_CODE,
	};
	const struct ptc_branch *e = &s->entries[i];
	const struct ptc_flow_edge *edge = NULL;
	enum ptc_runs_verdict v;
	uint64_t from, to;

	*ret_number = 0;
	*ret_next = false;
	if (!s->as)
		return PTC_RUNS_NO_FILE;
	if (ptc_code_changed(&o->changes, e->from) || ptc_code_changed(&o->changes, e->to))
		return PTC_RUNS_NO_CODE;
	from = ptc_flow_place(&o->places, s->as, e->from, true);
	to = ptc_flow_place(&o->places, s->as, e->to, true);
	if (from && to)
		edge = ptc_flow_find_edge(&o->table, from, to, ret_number);
	if (ptc_is_kernel_ip(e->from) || ptc_is_kernel_ip(e->to))
		return edge && edge->seen ? PTC_RUNS_SEEN : PTC_RUNS_UNTRACED;
	if (!is_common(o, from))
		return PTC_RUNS_NO_FILE;
	v = of_code[ptc_flow_code_edge(s->as, e, s->types, ret_next)];
	if (edge && edge->seen)
		return v == PTC_RUNS_TYPE ? v : PTC_RUNS_SEEN;
	return v == PTC_RUNS_POSSIBLE && !is_common(o, to) ? PTC_RUNS_NO_FILE : v;
}

/* Can the kernel have continued at a place from which code leads to @from? */
static bool is_resumed(struct other *o, const struct stack *s, uint64_t from)
{
	const uint64_t place = ptc_flow_place(&o->places, s->as, from, true);
	size_t i;

	for (i = 0; place && i < o->nresumes; i++)
		if (o->resumes[i] <= place && place - o->resumes[i] < NEAR &&
		    ptc_flow_code_link(s->as, from - (place - o->resumes[i]), from, &o->work) ==
			    PTC_FLOW_LINKED)
			return true;
	return o->many_resumes;
}

/* As ptc_flow_code_link, with the results of earlier calls. */
static enum ptc_flow_link_is link_of(struct other *o, const struct ptc_addrspace *as, uint64_t to,
				     uint64_t from)
{
	const struct link_key key = { as, ptc_addrspace_version(as), to, from };
	struct link *l = &o->links[(to * 31 + from) % LINKS];

	if (l->key.as != as || l->key.version != key.version || l->key.to != to ||
	    l->key.from != from)
		*l = (struct link){ key, ptc_flow_code_link(as, to, from, &o->work) };
	return l->is;
}

/* Judges whether code leads from @to to @from. SEEN: it does. */
static enum ptc_runs_verdict judge_link(struct other *o, const struct stack *s, uint64_t to,
					uint64_t from)
{
	if (ptc_code_changed(&o->changes, from) || ptc_code_changed(&o->changes, to))
		return PTC_RUNS_NO_CODE;
	if (!is_common(o, ptc_flow_place(&o->places, s->as, to, true)))
		return PTC_RUNS_NO_FILE;
	switch (link_of(o, s->as, to, from)) {
	case PTC_FLOW_LINKED:
		return PTC_RUNS_SEEN;
	case PTC_FLOW_BROKEN:
		return is_resumed(o, s, from) ? PTC_RUNS_KERNEL : PTC_RUNS_LINK;
	case PTC_FLOW_KERNEL:
		return PTC_RUNS_KERNEL;
	default:
		return PTC_RUNS_NO_CODE;
	}
}

/* Numbers the edges of @s in o->numbers. Returns how many; 0: an entry has no number. */
static size_t number_entries(struct other *o, const struct stack *s)
{
	size_t i, n = 0;

	for (i = s->n; i--;) {
		uint32_t number;
		bool next;

		(void)judge_edge(o, s, i, &number, &next);
		if (next)
			continue;
		if (!number)
			return 0;
		o->numbers[n++] = number;
	}
	return n;
}

static int collect_stack(struct other *o, const struct stack *s)
{
	uint32_t number;
	size_t i, n;

	for (i = 0; s->as && i < s->n; i++) {
		const uint64_t from = ptc_flow_place(&o->places, s->as, s->entries[i].from, true);
		const uint64_t to = ptc_flow_place(&o->places, s->as, s->entries[i].to, true);

		if (!ptc_flow_add_edge(&o->table, from, to, &number))
			return ptc_fail_mem(o->err);
	}
	n = s->filter >= 0 ? number_entries(o, s) : 0;
	if (n && !ptc_flow_add_stack(&o->table, s->filter, o->numbers, n))
		return ptc_fail_mem(o->err);
	return 0;
}

/* Does the link of entry @i to the older entry @i + 1 need a look? */
static bool has_link(const struct other *o, const struct stack *s, size_t i)
{
	/* A wrong target already explains that the newer entry is not connected. */
	return s->all && s->as && o->verdicts[i] <= PTC_RUNS_POSSIBLE &&
	       o->verdicts[i + 1] != PTC_RUNS_TARGET && !ptc_is_kernel_ip(s->entries[i].from) &&
	       !ptc_is_kernel_ip(s->entries[i + 1].to);
}

static void judge_entries(struct other *o, const struct stack *s)
{
	enum ptc_runs_verdict link;
	uint32_t number;
	bool next;
	size_t i;

	for (i = 0; i < s->n; i++)
		o->verdicts[i] = (uint8_t)judge_edge(o, s, i, &number, &next);
	for (i = 0; i + 1 < s->n; i++) {
		if (!has_link(o, s, i))
			continue;
		link = judge_link(o, s, s->entries[i + 1].to, s->entries[i].from);
		if (link != PTC_RUNS_SEEN)
			o->verdicts[i] = (uint8_t)link;
	}
}

static bool is_found(struct other *o, const struct stack *s)
{
	const size_t n = s->filter >= 0 ? number_entries(o, s) : 0;
	const struct ptc_flow_stack *k =
		n ? ptc_flow_find_stack(&o->table, s->filter, o->numbers, n) : NULL;

	return k && k->found;
}

/*
 * After an exec the oldest entries may be of the program before. Until a stack agrees with the
 * code, a wrong entry of the process proves nothing.
 */
static void doubt_older_program(struct other *o, const struct stack *s)
{
	bool agrees = s->n;
	size_t i;

	if (!ptc_code_is_mixed(&o->changes, s->pid))
		return;
	for (i = 0; i < s->n; i++) {
		agrees = agrees && o->verdicts[i] <= PTC_RUNS_POSSIBLE;
		if (ptc_runs_is_wrong((enum ptc_runs_verdict)o->verdicts[i]))
			o->verdicts[i] = PTC_RUNS_NO_CODE;
	}
	if (agrees)
		ptc_code_set_pure(&o->changes, s->pid);
}

static enum ptc_runs_stack judge_stack(struct other *o, const struct stack *s)
{
	enum ptc_runs_stack ret = PTC_RUNS_STACK_POSSIBLE;
	const bool found = is_found(o, s);
	bool wrong_type = false;
	size_t i;

	judge_entries(o, s);
	doubt_older_program(o, s);
	for (i = 0; i < s->n; i++) {
		const enum ptc_runs_verdict v = (enum ptc_runs_verdict)o->verdicts[i];

		wrong_type |= v == PTC_RUNS_TYPE;
		if (found && v != PTC_RUNS_TYPE)
			o->verdicts[i] = PTC_RUNS_SEEN;
		if (ptc_runs_is_wrong(v))
			ret = PTC_RUNS_STACK_IMPOSSIBLE;
		else if (!ptc_runs_is_judged(v) && ret == PTC_RUNS_STACK_POSSIBLE)
			ret = PTC_RUNS_STACK_UNKNOWN;
	}
	if (!s->n)
		return PTC_RUNS_STACK_UNKNOWN;
	return found && !wrong_type ? PTC_RUNS_STACK_EXACT : ret;
}

static struct stack stack_of(struct other *o, const struct ptc_sample *sample,
			     const struct perf_event_attr *attr, size_t n)
{
	const struct ptc_proc *p = ptc_decode_process(o->opts->a, sample->id.pid);
	const uint64_t sel = ptc_branchsel_of(attr);
	const struct ptc_wants wants = ptc_wants_of(attr);

	return (struct stack){ .as = p ? &p->as : NULL,
			       .entries = o->entries,
			       .n = n,
			       .types = sel & PERF_SAMPLE_BRANCH_TYPE_SAVE,
			       .all = sel & PERF_SAMPLE_BRANCH_ANY && sel & PERF_SAMPLE_BRANCH_USER,
			       .filter = ptc_flow_filter(&o->table, &wants),
			       .pid = sample->id.pid };
}

static void judge_ip(struct other *o, const struct stack *s, struct ptc_runs_sample *ret)
{
	enum ptc_runs_verdict v;

	if (!s->all || !s->as || !s->n || !ret->sample->ip || ptc_is_kernel_ip(ret->sample->ip) ||
	    ptc_is_kernel_ip(s->entries[0].to) ||
	    ptc_runs_is_wrong((enum ptc_runs_verdict)o->verdicts[0]))
		return;
	v = judge_link(o, s, s->entries[0].to, ret->sample->ip);
	ret->has_ip = v == PTC_RUNS_SEEN || v == PTC_RUNS_LINK;
	ret->leads_to_ip = v == PTC_RUNS_SEEN;
}

static void set_given(struct other *o, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		o->given[i] = (struct ptc_runs_entry){ .branch = &o->entries[i],
						       .verdict = o->verdicts[i] };
}

static int take_sample(struct other *o, const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(stacks_file(o), rec);
	struct ptc_sample parsed;
	const struct ptc_runs_own own = { .entries = o->given };
	struct ptc_runs_sample s = { .sample = &parsed, .off = rec->off, .own = &own };
	struct stack stack;
	bool skipped;

	if (ptc_sample_parse(rec, &a->attr, &parsed, o->err))
		return ptc_file_err_name(stacks_file(o), o->err);
	if (!read_entries(o, &parsed, &s.n))
		return ptc_fail_mem(o->err);
	skipped = a->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK ||
		  s.n >= PTC_ALIGN_ENTRIES;
	stack = stack_of(o, &parsed, &a->attr, s.n);
	if (!o->judging)
		return skipped ? 0 : collect_stack(o, &stack);
	s.stack = skipped ? PTC_RUNS_STACK_SKIPPED : judge_stack(o, &stack);
	if (!skipped) {
		judge_ip(o, &stack, &s);
		set_given(o, s.n);
	}
	s.where = (struct ptc_item){ .time = parsed.id.time,
				     .pid = parsed.id.pid,
				     .tid = parsed.id.tid,
				     .cpu = parsed.id.has & PERF_SAMPLE_CPU ?
						    (int32_t)parsed.id.cpu :
						    -1 };
	return o->opts->on_sample(o->opts->ctx, &s) ? 0 : ptc_fail_mem(o->err);
}

/* Takes all samples in order of time, each with the mappings of its time. */
static int walk_stacks(struct other *o)
{
	struct ptc_decode_input *in = &o->opts->a->in;
	size_t i;
	int rc;

	ptc_flow_places_forget(&o->places);
	ptc_code_changes_release(&o->changes);
	ptc_procs_rewind(&in->procs);
	rc = ptc_sideband_rewind(&in->sideband, o->err);
	for (i = 0; !rc && i < o->n; i++) {
		rc = ptc_code_changes_apply(&o->changes, in, o->samples[i].time, o->err);
		if (!rc && i + 1 >= o->opts->first && i + 1 <= o->opts->last)
			rc = take_sample(o, &o->samples[i].rec);
	}
	return rc;
}

/* --- the trace --- */

static void add_resume(struct other *o, uint64_t place)
{
	size_t i;

	for (i = 0; i < o->nresumes; i++)
		if (o->resumes[i] == place)
			return;
	if (o->nresumes == RESUMES)
		o->many_resumes = true;
	else if (place)
		o->resumes[o->nresumes++] = place;
}

/* Takes an exit from traced code or an entry. */
static void take_half(struct other *o, const struct ptc_item *it)
{
	const size_t at = ptc_idmap_find(&o->table.threads, it->tid);
	const struct ptc_addrspace *as = ptc_decode_addrspace(o->opts->b, it);

	if (at == SIZE_MAX)
		return;
	if (it->kind == PTC_KIND_START) {
		const uint64_t life = ptc_decode_life(o->opts->b, it);

		if (life != o->lives[at])
			ptc_flow_cut_thread(&o->table, it->tid);
		o->lives[at] = life;
		if (o->expected[at] && o->expected[at] != it->to && !ptc_is_kernel_ip(it->to))
			add_resume(o, ptc_flow_place(&o->places, as, it->to, true));
		o->expected[at] = 0;
	} else if (it->from) {
		o->expected[at] = it->from + (it->kind == PTC_KIND_ASYNC ? 0 : SYSCALL_LEN);
	}
}

static bool take_branch_item(struct other *o, const struct ptc_item *it)
{
	const struct ptc_step step = {
		.from = it->from, .to = it->to, .time = it->time, .kind = it->kind
	};
	const struct ptc_addrspace *as = ptc_decode_addrspace(o->opts->b, it);

	if (!it->from || !it->to) {
		take_half(o, it);
		return true;
	}
	o->total.branches++;
	return ptc_flow_feed(&o->table, it->tid, &step,
			     ptc_flow_place(&o->places, as, it->from, false),
			     ptc_flow_place(&o->places, as, it->to, false));
}

static int on_trace_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct other *o = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].type == PTC_ITEM_GAP)
			ptc_flow_cut(&o->table);
		else if (items[i].type == PTC_ITEM_BRANCH && !take_branch_item(o, &items[i]))
			o->rc = ptc_fail_mem(o->err);
		if (o->rc)
			return 1;
	}
	return 0;
}

static int read_trace(struct other *o)
{
	const struct ptc_sink sink = { .on_items = on_trace_items, .ctx = o };
	struct ptc_err run_err;
	int rc;

	ptc_flow_places_forget(&o->places);
	rc = ptc_decode_run(o->opts->b, &sink, &run_err);
	if (o->rc)
		return o->rc;
	if (rc)
		*o->err = run_err;
	return rc;
}

static int run_other(struct other *o)
{
	int rc = load_stacks(o);

	o->total.traced = ptc_decode_input(o->opts->b)->nlanes;
	if (rc || !o->n || !o->total.traced)
		return rc;
	rc = ptc_program_match(o->opts->a, o->opts->b, &o->places, o->err);
	if (!rc)
		rc = walk_stacks(o);
	if (!rc)
		rc = read_trace(o);
	o->judging = true;
	return rc ? rc : walk_stacks(o);
}

int ptc_runs_compare(const struct ptc_runs_opts *opts, struct ptc_runs_total *ret,
		     struct ptc_err *err)
{
	struct ptc_runs_opts known;
	struct other *o;
	size_t i;
	int rc = ptc_opts_take(&known, sizeof(known), opts, "PTC_RUNS_OPTS_INIT", err);

	if (rc)
		return rc;
	o = calloc(1, sizeof(*o));
	if (!o)
		return ptc_fail_mem(err);
	o->opts = &known;
	o->err = err;
	rc = run_other(o);
	o->total.edges = o->table.nedges;
	for (i = 0; i < o->table.nedges; i++)
		o->total.edges_seen += o->table.edges[i].seen;
	o->total.limited = o->table.limited || o->work >= PTC_FLOW_WORK;
	o->total.many_threads = o->table.many_threads;
	if (!rc)
		ptc_opts_give(ret, &o->total, sizeof(o->total));
	ptc_flow_places_release(&o->places);
	ptc_code_changes_release(&o->changes);
	ptc_flow_table_release(&o->table);
	free(o->samples);
	free(o->entries);
	free(o);
	return rc;
}
