/* SPDX-License-Identifier: MIT */
#include "capture/rings/window.h"

#include <assert.h>

struct ptc_window ptc_window_between(uint64_t tail, uint64_t head, size_t size)
{
	const uint64_t span = head - tail; /* also correct if only head has passed 2^64 */
	struct ptc_window w = { { 0, 0 }, { 0, 0 }, 0 };
	size_t len, to_end;

	assert(size);
	w.lost = span > size ? span - size : 0;
	len = (size_t)(span - w.lost);
	w.off[0] = (size_t)((tail + w.lost) % size);
	to_end = size - w.off[0];
	w.len[0] = len < to_end ? len : to_end;
	w.len[1] = len - w.len[0]; /* off[1] is 0: the second part is at the start of the buffer */
	return w;
}
