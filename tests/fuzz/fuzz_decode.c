/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a PT stream over code with every kind of branch. The first byte sets the options.
 * pt_replay aborts when the decode does not end, when a branch has no kind, or when a gap is
 * outside the stream. A stream in parts must give the same result.
 */
#include <stddef.h>
#include <stdint.h>

#include "lib_pt.h"

enum { PART = 13 }; /* bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ptc_time_conv conv = { .shift = 3, .mult = 5, .zero = 7 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { .insns = false };

	if (!size)
		return 0;
	how.psb = data[0] & 1;
	how.insns = data[0] & 2;
	how.bytes = data[0] & 4;
	how.conv = data[0] & 8 ? &conv : NULL;
	how.disorder = true; /* a TSC may have any value */
	if (data[0] & 128)
		how.params = (struct ptc_ipt_params){
			.mtc_freq = 3, .nom_freq = 20, .tsc_ctc_n = 168, .tsc_ctc_d = 2
		};
	/* Most inputs have no PSB of their own: puts one first. */
	if (data[0] & 16)
		pt_psb_on(&b, PT_CODE + data[0] % 16);
	else if (data[0] & 32)
		pt_psb_off(&b);
	ptc_buf_put(&b, data + 1, size - 1);
	if (data[0] & 64)
		(void)pt_replay_parts(&b, PART, &how);
	else
		(void)pt_replay(&b, &how);
	ptc_buf_release(&b);
	return 0;
}
