/* SPDX-License-Identifier: MIT */
#include "capture/perf/sampler.h"

#include <inttypes.h>

#include "base/err.h"
#include "capture/source.h"

enum { ALIGN = 8 }; /* what the kernel pads trace in a sample to */

static int check(const struct ptc_record_opts *o, const struct ptc_event *tracer,
		 struct ptc_err *err)
{
	if (o->snapshot)
		return ptc_fail(err, PTC_E_USAGE,
				"snapshots or AUX samples: one AUX ring cannot give both");
	if (o->aux_sample > PTC_AUX_SAMPLE_MAX)
		return ptc_fail(err, PTC_E_USAGE,
				"a sample brings at most %u bytes of trace, not %" PRIu64,
				PTC_AUX_SAMPLE_MAX, o->aux_sample);
	if (tracer->software)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' traces nothing that samples could bring (--aux-sample): "
				"intel_pt//u does, and the event that samples comes second (-e)",
				tracer->name);
	return 0;
}

int ptc_sampler_parse(struct ptc_event *e, const struct ptc_record_opts *opts,
		      const struct ptc_event *tracer, const char *root, struct ptc_err *err)
{
	static const struct ptc_event_base none = { false, 0 };
	const char *text = opts->sampler ? opts->sampler : PTC_SAMPLER_DEFAULT;
	int rc = check(opts, tracer, err);

	if (!rc)
		rc = ptc_event_parse(e, text, &none, root, err);
	if (rc)
		return rc;
	if (e->intel_pt || e->dummy || e->attr.type == tracer->attr.type)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' takes no samples that could bring trace (--aux-sample): "
				"cpu-clock:u and events that count do",
				e->name);
	if (opts->sample_period)
		e->attr.sample_period = opts->sample_period;
	e->attr.aux_sample_size = (uint32_t)(opts->aux_sample + (-opts->aux_sample & (ALIGN - 1)));
	return 0;
}

uint64_t ptc_sampler_ring(uint64_t size)
{
	uint64_t ring = PTC_RING_MIN;

	while (ring < size)
		ring *= 2;
	return ring;
}
