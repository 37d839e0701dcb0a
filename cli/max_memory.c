/* SPDX-License-Identifier: MIT */
#include "max_memory.h"

#include "cli.h"
#include "ptcap/memory.h"

int ptc_max_memory(const char *command, const char *size)
{
	uint64_t n;

	if (!ptc_parse_size(size, &n) || !n)
		return ptc_usage_error(command, "'%s' is no size: a number, with K, M or G", size);
	ptc_memory_set_limit(n);
	return 0;
}
