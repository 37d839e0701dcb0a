/* SPDX-License-Identifier: MIT */
/* Any bytes as what AUXTRACE_INFO tells of Intel PT. lib_walk.h says what is asserted. */
#include <stdlib.h>
#include <string.h>

#include "auxtrace/layout.h"
#include "fuzz.h"
#include "lib_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const uint8_t intel_pt[8] = { 1 };
	struct ptc_rec rec = { .type = PTC_REC_AUXTRACE_INFO };
	uint8_t *copy;

	if (len > PTC_REC_MAX - PTC_REC_HEADER_SIZE - sizeof(intel_pt))
		return 0;
	copy = malloc(sizeof(intel_pt) + len); /* its end is the allocation's */
	if (!copy)
		abort();
	memcpy(copy, intel_pt, sizeof(intel_pt));
	if (len)
		memcpy(copy + sizeof(intel_pt), bytes, len);
	rec.body = ptc_cur_init(copy, sizeof(intel_pt) + len);
	(void)wk_record(&rec, 0, NULL);
	free(copy);
	return 0;
}
