/* SPDX-License-Identifier: MIT */
/* Lists data that the memory budget did not allow. A note at the end reports the list. */
#ifndef PTC_DECODE_ELF_OMITTED_DATA_H
#define PTC_DECODE_ELF_OMITTED_DATA_H

#include <stddef.h>
#include <stdint.h>

struct ptc_omitted_data_one {
	char *file;	  /* owned */
	const char *what; /* a string that is never freed: "names" */
	uint64_t bytes;	  /* needed bytes; 0: unknown, but more than available */
};

/* Zeroed: empty. Lives as long as the files that it lists. */
struct ptc_omitted_data {
	struct ptc_omitted_data_one *v; /* owned */
	size_t n, cap;
	uint64_t held; /* bytes of files in memory, returned to the budget with this */
};

/*
 * Record that the @what of @file was left out. An entry that exists is not repeated. If out of
 * memory, nothing is recorded. @l may be NULL.
 */
void ptc_omitted_data_add(struct ptc_omitted_data *l, const char *file, const char *what,
			  uint64_t bytes);
void ptc_omitted_data_release(struct ptc_omitted_data *l);

#endif
