/* SPDX-License-Identifier: MIT */
/* A pool of names, each stored once and identified by a number. */
#ifndef PTC_CLI_COMMON_STRING_POOL_H
#define PTC_CLI_COMMON_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Initialize with zeros. */
struct ptc_names {
	void *tree; /* owned; see tsearch(3) */
	struct {
		struct ptc_name *name;
	} * v; /* owned, including the names */
	size_t n, cap;
	size_t bytes; /* of all names */
};

/* Returns the number of @s, from 1; 0 for NULL; UINT32_MAX: out of memory. */
uint32_t ptc_names_get(struct ptc_names *t, const char *s);
/* Returns the name, borrowed; NULL for 0. */
const char *ptc_names_of(const struct ptc_names *t, uint32_t number);
void ptc_names_release(struct ptc_names *t);

#endif
