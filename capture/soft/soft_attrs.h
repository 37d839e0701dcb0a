/* SPDX-License-Identifier: MIT */
/* Describes a software source's recording: attributes and AUXTRACE_INFO. */
#ifndef PTC_CAPTURE_SOFT_SOFT_ATTRS_H
#define PTC_CAPTURE_SOFT_SOFT_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/host/clock.h"
#include "capture/source/source.h"
#include "ptcap/capture.h"

struct ptc_soft_desc {
	const char *label; /* name of the source */
	uint32_t pmu_type;
	uint32_t psb_period; /* bytes between PSBs */
	uint8_t mtc_freq;
	uint32_t tsc_per_ctc;
	bool no_retcomp;
	uint64_t aux_size; /* bytes of the AUX ring */
	const struct ptc_clock *clock;
	const struct ptc_record_opts *opts; /* for branch stacks */
};

/*
 * Fills *ret for per-CPU rings that several threads share. SWITCH records report which thread runs.
 */
void ptc_soft_describe(const struct ptc_soft_desc *d, struct ptc_source_desc *ret);

#endif
