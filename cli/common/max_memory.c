/* SPDX-License-Identifier: MIT */
#include "cli/common/max_memory.h"

#include "cli/common/cli.h"
#include "ptcap/memory.h"

int ptc_max_memory(const char *command, const char *size)
{
	uint64_t n;

	if (!ptc_parse_size(size, &n) || !n)
		return ptc_value_error(command, "--max-memory", size,
				       "a size: a number with K, M or G");
	ptc_memory_set_limit(n);
	return 0;
}
