/* SPDX-License-Identifier: MIT */
/* The code of a bare stream of packets: option --raw. */
#ifndef PTC_CLI_COMMON_RAW_ARGS_H
#define PTC_CLI_COMMON_RAW_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/decode.h"

#define PTC_ARGS_RAW "FILE@ADDR[:OFFSET[:LENGTH]]"

/* Initialize with zeros. */
struct ptc_raw_list {
	struct ptc_raw_code *v; /* owned, including the paths */
	size_t n;
};

/* Add "FILE@ADDR[:OFFSET[:LENGTH]]" to a struct ptc_raw_list, for PTC_PARSED. */
bool ptc_take_raw(const char *s, void *list);
void ptc_raw_list_release(struct ptc_raw_list *l);

#endif
