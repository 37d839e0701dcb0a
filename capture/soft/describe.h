/* SPDX-License-Identifier: MIT */
/* What a software source's recording says about itself: attributes, AUXTRACE_INFO. */
#ifndef PTC_CAPTURE_SOFT_DESCRIBE_H
#define PTC_CAPTURE_SOFT_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/clock.h"
#include "capture/source.h"
#include "ptcap/capture.h"

struct ptc_soft_desc {
	const char *label; /* of the source */
	uint32_t pmu_type;
	uint32_t psb_period; /* bytes */
	uint8_t mtc_freq;
	uint32_t tsc_per_ctc;
	bool no_retcomp;
	uint64_t aux_size; /* bytes of the AUX ring */
	const struct ptc_clock *clock;
	const struct ptc_record_opts *opts; /* for branch stacks */
};

/* Rings of CPUs that threads share: SWITCH records say whose turn it is. */
void ptc_soft_describe(const struct ptc_soft_desc *d, struct ptc_source_desc *ret);

#endif
