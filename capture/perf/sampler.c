/* SPDX-License-Identifier: MIT */
#include "capture/perf/sampler.h"

#include <inttypes.h>

#include "base/err.h"
#include "capture/source/source.h"

enum { ALIGN = 8 }; /* the kernel pads the trace in a sample to this */

static int check_aux(const struct ptc_record_opts *o, const struct ptc_event *tracer,
		     struct ptc_err *err)
{
	if (o->snapshot.enabled)
		return ptc_fail(err, PTC_E_USAGE,
				"snapshots cannot be combined with AUX samples (--aux-sample)");
	if (o->lbr.aux_sample > PTC_AUX_SAMPLE_MAX)
		return ptc_fail(err, PTC_E_USAGE,
				"a sample has at most %u bytes of trace, not %" PRIu64,
				PTC_AUX_SAMPLE_MAX, o->lbr.aux_sample);
	if (tracer->software)
		return ptc_fail(err, PTC_E_USAGE,
				"--aux-sample needs a trace, but '%s' has none; use -e intel_pt//u "
				"first and the sampling event second (-e)",
				tracer->name);
	return 0;
}

static int check_lbr(const struct ptc_event *e, const struct ptc_event *tracer, struct ptc_err *err)
{
	if (tracer->software)
		return ptc_fail(err, PTC_E_USAGE,
				"--lbr needs a trace to compare with, but '%s' has none; to record "
				"only branch stacks, use perf record -j",
				tracer->name);
	if (e->attr.type == PERF_TYPE_SOFTWARE)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' does not support branch stacks (--lbr); use cycles:u, "
				"branches:u or another event of the CPU's own PMU",
				e->name);
	return 0;
}

bool ptc_sampler_wanted(const struct ptc_record_opts *o)
{
	return o->lbr.aux_sample || o->lbr.branches;
}

int ptc_sampler_parse(struct ptc_event *e, const struct ptc_record_opts *opts,
		      const struct ptc_event *tracer, const char *root, struct ptc_err *err)
{
	const bool lbr = opts->lbr.branches;
	const char *text = opts->lbr.sampler ? opts->lbr.sampler :
			   lbr		     ? PTC_LBR_DEFAULT :
					       PTC_SAMPLER_DEFAULT;
	int rc = opts->lbr.aux_sample ? check_aux(opts, tracer, err) : 0;

	if (!rc)
		rc = ptc_event_parse_counter(e, text, root, err);
	if (!rc && lbr)
		rc = check_lbr(e, tracer, err);
	if (rc)
		return rc;
	if (e->intel_pt || e->dummy || e->attr.type == tracer->attr.type)
		return ptc_fail(
			err, PTC_E_USAGE,
			"'%s' does not support samples with %s; use %s or another counting event",
			e->name, lbr ? "branch stacks (--lbr)" : "trace (--aux-sample)",
			lbr ? PTC_LBR_DEFAULT : PTC_SAMPLER_DEFAULT);
	if (opts->lbr.period || opts->lbr.freq) {
		e->attr.freq = opts->lbr.freq != 0;
		e->attr.sample_period = opts->lbr.freq ? opts->lbr.freq : opts->lbr.period;
	}
	e->attr.branch_sample_type = opts->lbr.branches;
	e->attr.aux_sample_size =
		(uint32_t)(opts->lbr.aux_sample + (-opts->lbr.aux_sample & (ALIGN - 1)));
	return 0;
}

uint64_t ptc_sampler_ring(uint64_t size)
{
	uint64_t ring = PTC_RING_MIN;

	while (ring < size)
		ring *= 2;
	return ring;
}
