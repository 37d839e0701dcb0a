/* SPDX-License-Identifier: MIT */
/* Expands RUN items. */
#ifndef PTC_TESTS_LIB_RUNS_H
#define PTC_TESTS_LIB_RUNS_H

#include "ptcap/decode.h"

/* Returns the number of branches or other items that @it stands for. */
static inline uint64_t runs_count(const struct ptc_item *it)
{
	return it->type == PTC_ITEM_RUN ? it->to : 1;
}

/* Returns the @i-th of them, in the form without opts.runs. */
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
