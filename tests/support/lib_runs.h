/* SPDX-License-Identifier: MIT */
/* RUN items as what they stand for. */
#ifndef PTC_TESTS_LIB_RUNS_H
#define PTC_TESTS_LIB_RUNS_H

#include "ptcap/decode.h"

/* How many transfers, or other items, it is. */
static inline uint64_t runs_count(const struct ptc_item *it)
{
	return it->type == PTC_ITEM_RUN ? it->to : 1;
}

/* The @i-th of them, as it comes without opts.runs. */
static inline struct ptc_item runs_item(const struct ptc_item *it, uint64_t i)
{
	struct ptc_item ret = *it;
	struct ptc_transfer t;

	if (it->type != PTC_ITEM_RUN)
		return ret;
	t = ptc_item_transfers(it)[i];
	ret.type = PTC_ITEM_BRANCH;
	ret.from = ptc_transfer_from(t);
	ret.to = t.to;
	ret.kind = (uint8_t)ptc_transfer_kind(t);
	return ret;
}

#endif
