/* SPDX-License-Identifier: MIT */
#include "capture/perf/event_attrs.h"

#include "capture/perf/sampler.h"

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_IDENTIFIER)

bool ptc_attrs_by_cpu(const struct ptc_record_opts *o)
{
	return o->target.all_cpus || o->target.cgroup || o->target.cpus;
}

static void fill_common(const struct ptc_record_opts *o, struct perf_event_attr *a)
{
	const bool by_cpu = ptc_attrs_by_cpu(o);

	a->sample_type = SAMPLE_TYPE;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			 PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->disabled = 1;
	a->inherit = !o->target.per_thread && !by_cpu;
	a->enable_on_exec = o->target.argv && !by_cpu;
	a->sample_id_all = 1;
}

static void fill_side(bool kernel, struct perf_event_attr *a)
{
	a->mmap = 1;
	a->mmap2 = 1;
	a->build_id = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->context_switch = 1;
	a->namespaces = 1;
	a->cgroup = 1;
	a->ksymbol = kernel;
	a->bpf_event = kernel;
	a->text_poke = kernel;
}

/* In a group, the sampling event is enabled together with its leader. */
static void fill_sampler(const struct ptc_record_opts *o, const struct ptc_event *sampler,
			 struct perf_event_attr *a)
{
	*a = sampler->attr;
	fill_common(o, a);
	a->sample_type |= PERF_SAMPLE_PERIOD;
	if (o->lbr.branches)
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	if (!o->lbr.aux_sample)
		return;
	a->sample_type |= PERF_SAMPLE_AUX;
	a->disabled = 0;
	a->enable_on_exec = 0;
}

void ptc_attrs_fill(struct ptc_set *s, const struct ptc_record_opts *opts,
		    const struct ptc_event *sampler)
{
	const bool kernel = !s->event->attr.exclude_kernel;
	struct perf_event_attr *first = &s->attr[0], *last;

	s->nevents = s->event->dummy ? 1 : ptc_sampler_wanted(opts) ? 3 : 2;
	s->grouped = opts->lbr.aux_sample;
	last = &s->attr[s->nevents - 1];
	*first = s->event->attr;
	fill_common(opts, first);
	if (s->aux_size && !s->overwrite) /* with half, small traces become TRUNCATED */
		first->aux_watermark = (uint32_t)(s->aux_size / 4);
	if (s->event->dummy) {
		fill_side(kernel, first);
		return;
	}
	if (ptc_sampler_wanted(opts))
		fill_sampler(opts, sampler, &s->attr[1]);
	last->type = PERF_TYPE_SOFTWARE;
	last->config = PERF_COUNT_SW_DUMMY;
	last->sample_period = 1;
	last->exclude_kernel = 1;
	last->exclude_hv = 1;
	fill_common(opts, last);
	fill_side(kernel, last);
}
