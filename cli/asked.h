/* SPDX-License-Identifier: MIT */
/* What was asked for and is not there: a part of a recording that is empty, a place without code.
 */
#ifndef PTC_CLI_ASKED_H
#define PTC_CLI_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* A sink in front of another one, to know whether anything came. */
struct ptc_asked {
	struct ptc_sink inner;
	uint64_t items;
};

int ptc_asked_items(void *ctx, const struct ptc_item *items, size_t n);

/* Options that leave a part of a recording. */
struct ptc_asked_part {
	bool tid, cpu, time;
	const char *sym; /* lent; NULL: any */
};

static inline bool ptc_asked_any(const struct ptc_asked_part *p)
{
	return p->tid || p->cpu || p->time || p->sym;
}

/*
 * Reports that they left nothing of the recording @name, which @d decoded. Returns the exit code.
 */
int ptc_asked_say_none(const struct ptc_asked_part *p, const struct ptc_decode *d,
		       const char *name);

/* Can what @code names be read? Says what cannot, and by which option it is meant. */
bool ptc_asked_code_is_there(const struct ptc_code_opts *code);

#endif
