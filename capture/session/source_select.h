/* SPDX-License-Identifier: MIT */
/* Chooses a source from given facts about the machine. */
#ifndef PTC_CAPTURE_SESSION_SOURCE_SELECT_H
#define PTC_CAPTURE_SESSION_SOURCE_SELECT_H

#include "ptcap/capture.h"

/*
 * What the machine offers. A member says why a source is missing, as part of a sentence. NULL: the
 * source is available.
 */
struct ptc_offer {
	const char *no_pt;
	const char *no_emu; /* for this command with these options; used for AUTO only */
};

/* Same as ptc_source_choose, for a machine that @offer describes. */
int ptc_choose(const struct ptc_record_opts *opts, const struct ptc_offer *offer,
	       struct ptc_source_choice *ret, struct ptc_err *err);

#endif
