/* SPDX-License-Identifier: MIT */
/* Profiles from calls for other tools: `ptcap decode --format=callgrind`. */
#ifndef PTC_CLI_DECODE_CALL_PROFILE_H
#define PTC_CLI_DECODE_CALL_PROFILE_H

#include <stdbool.h>

#include "cli/decode/line_buffer.h"
#include "cli/decode/out_callgrind.h"

enum ptc_call_profile_kind {
	PTC_CALL_PROFILE_NONE,
	PTC_CALL_PROFILE_CALLGRIND,
	PTC_CALL_PROFILE_COUNT,
};

/* Initialize with zeros, except kind. */
struct ptc_call_profile {
	enum ptc_call_profile_kind kind;
	struct ptc_callgrind callgrind;
};

/* Returns the kind with this name of --format; NONE: there is no such kind. */
enum ptc_call_profile_kind ptc_call_profile_parse(const char *name);

/*
 * Prepare a profile of @d, which is decoded with opts.bytes and opts.icount. *ret: the sink for all
 * items. @p must not move. Returns false if out of memory.
 */
bool ptc_call_profile_begin(struct ptc_call_profile *p, struct ptc_decode *d, struct ptc_sink *ret);

/* Print the profile, once, after all items. Returns false if out of memory. */
bool ptc_call_profile_print(struct ptc_call_profile *p, struct ptc_line *l);

void ptc_call_profile_release(struct ptc_call_profile *p);

#endif
