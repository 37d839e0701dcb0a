/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/sample.h"
#include "auxtrace/writer/writer_private.h"
#include "base/err.h"

int ptc_writer_sample(struct ptc_writer *w, const struct perf_event_attr *attr, uint16_t misc,
		      const struct ptc_sample *s, struct ptc_err *err)
{
	ptc_buf_reset(&w->sample);
	/* No record is larger. So a later failure is not about memory. */
	if (!ptc_buf_grow(&w->sample, PTC_REC_MAX))
		return ptc_fail_mem(err);
	ptc_buf_reset(&w->sample);
	ptc_sample_put(&w->sample, misc, s, attr);
	if (ptc_buf_failed(&w->sample))
		return ptc_fail(
			err, PTC_E_USAGE,
			"cannot write a sample: its parts do not fit the event or a record");
	return ptc_writer_stored(w, w->sample.bytes, w->sample.len, true, err);
}
