/* SPDX-License-Identifier: MIT */
/*
 * Where in a thread's transfers a sample's branch stack can be, by its time and its ip: the newest
 * entry at a transfer from the last one that may have been under way @slack before the sample to
 * the last one @slack after it, and at a few in front of those.
 */
#ifndef PTC_DECODE_PLACE_H
#define PTC_DECODE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"
#include "decode/recent.h"
#include "decode/wants.h"

struct ptc_place {
	struct ptc_wants wants; /* the sample's filter */
	uint64_t ip;
	uint64_t since; /* its time, less @slack */
};

/*
 * Read the stack as it is where it ends at the ip: nothing is cheaper, and most are like that. Of
 * several such places the newest. False: there is none, and nothing was set. Steps are numbered as
 * in @t; @in's are not looked at.
 */
bool ptc_place_exact(const struct ptc_place *p, const struct ptc_recent_thread *t,
		     const struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
		     struct ptc_align_result *ret);

/*
 * By how many transfers the stack, as it is, ends in front of the ip: bit k, if it can be k, at any
 * place. Looks at each step of the sample's time. 0: it is nowhere, or the ip is not.
 */
uint32_t ptc_place_shifts(const struct ptc_place *p, const struct ptc_recent_thread *t,
			  const struct ptc_align_in *in);

/* Set the flags of the steps to look at for a stack of @n entries, and return the first of them. */
size_t ptc_place_steps(const struct ptc_place *p, struct ptc_recent_thread *t, size_t n);

#endif
