/* SPDX-License-Identifier: MIT */
#include "capture/soft/soft_attrs.h"

#include <string.h>
#include <time.h>

#include "capture/host/pt_config.h"
#include "capture/soft/lbr.h"
#include "capture/soft/sideband_writer.h"

static uint64_t config(const struct ptc_soft_desc *d)
{
	uint64_t c = PTC_CFG_PT | PTC_CFG_TSC | PTC_CFG_MTC | PTC_CFG_BRANCH |
		     (uint64_t)d->mtc_freq << PTC_CFG_MTC_FREQ_SHIFT;
	uint64_t psb = 0;

	while ((uint32_t)PTC_PSB_PERIOD_MIN << psb < d->psb_period)
		psb++;
	if (d->no_retcomp)
		c |= PTC_CFG_NORETCOMP;
	return c | psb << PTC_CFG_PSB_SHIFT;
}

static void describe_pt(const struct ptc_soft_desc *d, struct perf_event_attr *pt)
{
	pt->type = d->pmu_type;
	pt->size = PERF_ATTR_SIZE_VER7;
	pt->config = config(d);
	pt->sample_period = 1;
	pt->sample_type = PTC_SOFT_SAMPLE_TYPE;
	pt->read_format = PERF_FORMAT_ID;
	pt->disabled = 1;
	pt->exclude_kernel = 1;
	pt->exclude_hv = 1;
	pt->inherit = 1;
	pt->enable_on_exec = 1;
	pt->sample_id_all = 1;
	pt->aux_watermark = (uint32_t)(d->aux_size / 4);
}

static void describe_side(struct perf_event_attr *side)
{
	side->type = PERF_TYPE_SOFTWARE;
	side->size = PERF_ATTR_SIZE_VER7;
	side->config = PERF_COUNT_SW_DUMMY;
	side->sample_period = 1;
	side->sample_type = PTC_SOFT_SAMPLE_TYPE;
	side->read_format = PERF_FORMAT_ID;
	side->exclude_kernel = 1;
	side->exclude_hv = 1;
	side->mmap = 1;
	side->mmap2 = 1;
	side->comm = 1;
	side->comm_exec = 1;
	side->task = 1;
	side->context_switch = 1;
	side->text_poke = 1;
	side->inherit = 1;
	side->enable_on_exec = 1;
	side->sample_id_all = 1;
}

/* The clock of ptc_clock_init_monotonic: same as with perf record -k mono. */
static void set_clocks(struct ptc_source_desc *d)
{
	size_t i;

	for (i = 0; i < d->nevents; i++) {
		d->attr[i].use_clockid = 1;
		d->attr[i].clockid = CLOCK_MONOTONIC;
	}
}

void ptc_soft_describe(const struct ptc_soft_desc *d, struct ptc_source_desc *ret)
{
	memset(ret, 0, sizeof(*ret));
	describe_pt(d, &ret->attr[0]);
	ret->nevents = PTC_SOURCE_EVENTS_USUAL;
	ret->name[0] = "intel_pt//u";
	if (d->opts->lbr.branches) {
		ret->attr[1] = ptc_lbr_attr(d->opts);
		ret->name[1] = ptc_lbr_name(d->opts);
		ret->nevents++;
	}
	describe_side(&ret->attr[ret->nevents - 1]);
	ret->name[ret->nevents - 1] = "dummy:u";
	set_clocks(ret);
	ret->label = d->label;
	ret->info = (struct ptc_pt_info){
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = d->pmu_type,
		.time = d->clock->conv,
		.cap_user_time_zero = true,
		/* per-CPU rings: SWITCH records report the running thread */
		.have_sched_switch = 2,
		.per_cpu_mmaps = true,
		.tsc_ctc_n = d->tsc_per_ctc,
		.tsc_ctc_d = 1,
		.max_nonturbo_ratio = (uint32_t)(d->clock->tsc_hz / 100000000),
		.filter = "",
	};
	ptc_source_config_masks(&ret->info);
}
