/* SPDX-License-Identifier: MIT */
/* Names, each kept once and known by its number. */
#ifndef PTC_CLI_NAMES_H
#define PTC_CLI_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Starts zeroed. */
struct ptc_names {
	void *tree; /* owned; see tsearch(3) */
	struct {
		struct ptc_name *name;
	} * v; /* owned, and so are the names */
	size_t n, cap;
};

/* The number of @s (NULL: 0), from 1; UINT32_MAX: out of memory. */
uint32_t ptc_names_get(struct ptc_names *t, const char *s);
/* Lent; of 0: NULL. */
const char *ptc_names_of(const struct ptc_names *t, uint32_t number);
void ptc_names_release(struct ptc_names *t);

#endif
