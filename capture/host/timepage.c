/* SPDX-License-Identifier: MIT */
#include "capture/host/timepage.h"

#include <stdint.h>

#include "capture/rings/barrier.h"

enum { SHIFT_MAX = 34 }; /* 1e9 << 34 fits 64 bits */

bool ptc_timepage_read(const volatile struct perf_event_mmap_page *page, struct ptc_time_conv *ret)
{
	struct perf_event_mmap_page copy;
	uint32_t seq;

	do {
		seq = ptc_load_seq(&page->lock);
		copy.capabilities = ptc_load_seq(&page->capabilities);
		copy.time_shift = ptc_load_seq(&page->time_shift);
		copy.time_mult = ptc_load_seq(&page->time_mult);
		copy.time_zero = ptc_load_seq(&page->time_zero);
	} while ((seq & 1) || ptc_load_seq(&page->lock) != seq);
	if (!copy.cap_user_time_zero || !copy.time_mult || copy.time_shift > SHIFT_MAX)
		return false;
	*ret = (struct ptc_time_conv){
		.shift = copy.time_shift,
		.mult = copy.time_mult,
		.zero = copy.time_zero,
	};
	return true;
}
