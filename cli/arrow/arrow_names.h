/* SPDX-License-Identifier: MIT */
/*
 * The texts of Arrow's dictionaries. A column of texts has indexes of one dictionary. All tables of
 * a recording share the texts, which are valid UTF-8, equal to those of the JSON output.
 */
#ifndef PTC_CLI_ARROW_ARROW_NAMES_H
#define PTC_CLI_ARROW_ARROW_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/common/string_pool.h"
#include "ptcap/error.h"

/* The dictionaries, by their ids. */
enum ptc_arrow_dictionary {
	PTC_ARROW_RECORDING,
	PTC_ARROW_FILE,
	PTC_ARROW_FUNCTION,
	PTC_ARROW_BUILD_ID, /* in hex */
	PTC_ARROW_KIND,	    /* index: enum ptc_kind */
	PTC_ARROW_CAUSE,    /* index: enum ptc_gap_cause */
	PTC_ARROW_HOW,	    /* index: enum ptc_call_how */
	PTC_ARROW_SIGNAL,
	PTC_ARROW_SIGNATURE,
	PTC_ARROW_SIGNATURE_REASON,
	PTC_ARROW_SIGNATURE_FRAMES, /* of one crash, with a line feed between two of them */
	PTC_ARROW_DICTIONARIES,
};

/* Indexes that are none: null, and out of memory. */
enum { PTC_ARROW_NULL = -1, PTC_ARROW_NO_MEMORY = -2 };

/* Initialize with ptc_arrow_names_init. */
struct ptc_arrow_names {
	struct ptc_names texts[PTC_ARROW_DICTIONARIES];
};

/* Adds the texts of the fixed dictionaries. Returns 0 or PTC_E_NO_MEMORY. */
int ptc_arrow_names_init(struct ptc_arrow_names *n, struct ptc_err *err);
void ptc_arrow_names_release(struct ptc_arrow_names *n);

/*
 * Returns the index of @text in a dictionary; PTC_ARROW_NULL for NULL; PTC_ARROW_NO_MEMORY: out of
 * memory, or of the memory budget.
 */
int32_t ptc_arrow_name(struct ptc_arrow_names *n, enum ptc_arrow_dictionary dictionary,
		       const char *text);

#endif
