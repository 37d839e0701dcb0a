/* SPDX-License-Identifier: MIT */
#include "capture/source/source.h"

#include <inttypes.h>

#include "base/err.h"
#include "capture/host/pt_config.h"

int ptc_source_check_rings(uint64_t data_size, uint64_t aux_size, struct ptc_err *err)
{
	const uint64_t sizes[2] = { data_size, aux_size };
	size_t i;

	for (i = 0; i < 2; i++)
		if (sizes[i] < PTC_RING_MIN || sizes[i] > PTC_RING_MAX || sizes[i] & (sizes[i] - 1))
			return ptc_fail(err, PTC_E_USAGE,
					"invalid size of the %s ring, %" PRIu64
					" bytes: expected a power of two from 8K to 2G",
					i ? "AUX" : "data", sizes[i]);
	return 0;
}

void ptc_source_config_masks(struct ptc_pt_info *info)
{
	info->tsc_bit = PTC_CFG_TSC;
	info->noretcomp_bit = PTC_CFG_NORETCOMP;
	info->mtc_bit = PTC_CFG_MTC;
	info->mtc_freq_bits = PTC_CFG_MTC_FREQ_MASK;
	info->cyc_bit = PTC_CFG_CYC;
}
