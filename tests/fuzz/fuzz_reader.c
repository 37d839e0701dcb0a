/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data: lib_walk.h lists the assertions. */
#include "fuzz.h"
#include "lib_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	(void)wk_file(bytes, len);
	return 0;
}
