/* SPDX-License-Identifier: MIT */
/* The choice of a source, apart from the machine it is made on. */
#ifndef PTC_CAPTURE_CHOOSE_H
#define PTC_CAPTURE_CHOOSE_H

#include "ptcap/capture.h"

/* What there is to choose from. Why not, as part of a sentence; NULL: it is there. */
struct ptc_offer {
	const char *no_pt;
	const char *no_emu; /* for this command, with these options; asked of AUTO only */
};

/* As ptc_source_choose, on a machine that has what @offer says. */
int ptc_choose(const struct ptc_record_opts *opts, const struct ptc_offer *offer,
	       struct ptc_source_choice *ret, struct ptc_err *err);

#endif
