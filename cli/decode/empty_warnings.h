/* SPDX-License-Identifier: MIT */
/*
 * Messages about requests without a result: an empty part of a recording, a missing file with code.
 */
#ifndef PTC_CLI_DECODE_EMPTY_WARNINGS_H
#define PTC_CLI_DECODE_EMPTY_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* A sink in front of another sink, which counts the items. */
struct ptc_asked {
	struct ptc_sink inner;
	uint64_t items;
};

int ptc_asked_items(void *ctx, const struct ptc_item *items, size_t n);

/* Options that select a part of a recording. */
struct ptc_asked_part {
	bool tid, cpu, time;
	const char *sym; /* lent; NULL: any */
};

static inline bool ptc_asked_any(const struct ptc_asked_part *p)
{
	return p->tid || p->cpu || p->time || p->sym;
}

/*
 * Report that the selected part of the recording @name, which @d decoded, is empty. Returns the
 * exit code.
 */
int ptc_asked_say_none(const struct ptc_asked_part *p, const struct ptc_decode *d,
		       const char *name);

/* Return whether all files in @code are readable. Otherwise reports the file and its option. */
bool ptc_asked_code_is_there(const struct ptc_code_opts *code);

#endif
