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
struct ptc_decode;
struct ptc_item;

/*
 * Returns the number of the build-id, in hex, of the file at @ip in the process of @it. 0: not
 * known; UINT32_MAX: out of memory. To be called inside on_items.
 */
uint32_t ptc_names_get_file_id(struct ptc_names *t, const struct ptc_decode *d,
			       const struct ptc_item *it, uint64_t ip);
/* Returns the name, borrowed; NULL for 0. */
const char *ptc_names_of(const struct ptc_names *t, uint32_t number);
/*
 * Compares the texts of two names, given by their numbers, as strcmp does. The number 0, no name,
 * is the first.
 */
int ptc_names_compare(const struct ptc_names *t, uint32_t a, uint32_t b);
void ptc_names_release(struct ptc_names *t);

#endif
