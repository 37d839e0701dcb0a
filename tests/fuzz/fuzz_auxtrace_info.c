/* SPDX-License-Identifier: MIT */
/* Any bytes as the Intel PT part of AUXTRACE_INFO. lib_walk.h lists the assertions. */
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "fuzz.h"
#include "lib_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const uint8_t intel_pt[8] = { 1 };
	struct ptc_rec rec = { .type = PTC_REC_AUXTRACE_INFO };
	uint8_t *copy;

	if (len > PTC_REC_MAX - PTC_REC_HEADER_SIZE - sizeof(intel_pt))
		return 0;
	copy = malloc(sizeof(intel_pt) + len); /* exact size: ASan sees an overread */
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
