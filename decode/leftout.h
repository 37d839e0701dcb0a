/* SPDX-License-Identifier: MIT */
/* What the memory budget had no room for: said in a note at the end. */
#ifndef PTC_DECODE_LEFTOUT_H
#define PTC_DECODE_LEFTOUT_H

#include <stddef.h>
#include <stdint.h>

struct ptc_leftout_one {
	char *file;	  /* owned */
	const char *what; /* a string that is never freed: "names" */
	uint64_t bytes;	  /* that it needs; 0: not known, more than there were */
};

/* Zeroed: nothing. As long-lived as the files that it is about. */
struct ptc_leftout {
	struct ptc_leftout_one *v; /* owned */
	size_t n, cap;
	uint64_t held; /* bytes of files in memory, dropped from the budget with this */
};

/*
 * The @what of @file was left out. Said twice it is listed once; without memory for it, it is not
 * listed. @l may be NULL.
 */
void ptc_leftout_add(struct ptc_leftout *l, const char *file, const char *what, uint64_t bytes);
void ptc_leftout_release(struct ptc_leftout *l);

#endif
