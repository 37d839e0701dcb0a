/* SPDX-License-Identifier: MIT */
/*
 * The header's features: header.c of tools/perf, and its
 * Documentation/perf.data-file-format.txt. What a section holds is parsed and
 * written by the headers included here.
 */
#ifndef PTC_AUXTRACE_FEATURE_H
#define PTC_AUXTRACE_FEATURE_H

#include "auxtrace/feature_base.h"
#include "auxtrace/feature_event.h"
#include "auxtrace/feature_file.h"
#include "auxtrace/feature_kernel.h"
#include "auxtrace/feature_machine.h"

/* "HOSTNAME", ...; NULL for a bit we do not know. */
const char *ptc_feature_name(unsigned int bit);

/*
 * Read a whole section, every entry of it. @off: of the section in the file,
 * for messages; @ncpus: available ones, of NRCPUS (CPU_TOPOLOGY needs it).
 * *@ret_rest is what is left behind all that is known of the feature; of a
 * feature we do not know, everything. Returns 0, PTC_E_FORMAT or
 * PTC_E_UNSUPPORTED.
 */
int ptc_feature_check(enum ptc_feature bit, struct ptc_cur section, uint64_t off, uint32_t ncpus,
		      struct ptc_cur *ret_rest, struct ptc_err *err);

#endif
