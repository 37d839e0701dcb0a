/* SPDX-License-Identifier: MIT */
/* struct ptc_decode: prepared by opening, used by running. Private to decode/. */
#ifndef PTC_DECODE_SESSION_DECODER_H
#define PTC_DECODE_SESSION_DECODER_H

#include "decode/session/code_numbers.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_filter.h"
#include "decode/session/pass.h"
#include "decode/symbols/srcline.h"

struct ptc_decode {
	struct ptc_decode_input in;
	struct ptc_pass pass;
	struct ptc_item_filter pick;
	struct ptc_srclines srclines;
	struct ptc_code_numbers code_numbers;
	bool ran;
	bool sharded; /* ptc_decode_choose_shard() was called */
};

#endif
