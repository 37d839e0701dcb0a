/* SPDX-License-Identifier: MIT */
/*
 * The table of crashes: a row for each process whose death by a signal the recording has saved,
 * with the signature that `ptcap crash show` prints.
 */
#ifndef PTC_CLI_ARROW_CRASH_TABLE_H
#define PTC_CLI_ARROW_CRASH_TABLE_H

#include "cli/arrow/arrow_names.h"
#include "cli/arrow/arrow_table.h"

struct ptc_code_opts;
struct ptc_file;

enum { PTC_CRASH_COLUMNS = 13 };

extern const struct ptc_ipc_column ptc_crash_columns[PTC_CRASH_COLUMNS];

/* Where crashes are. All members are borrowed. */
struct ptc_crash_source {
	const struct ptc_file *f; /* NULL: there are no crashes */
	const char *path;	  /* of @f; each signature decodes it once more */
	/* Additional sources of code, without its core: signatures need the saved state. */
	const struct ptc_code_opts *code;
};

/*
 * Appends the crashes of @from. Records behind a damaged record are ignored, as the decoder does. A
 * crash that cannot be explained has no signature, and a message says why. Returns 0, PTC_E_IO or
 * PTC_E_NO_MEMORY.
 */
int ptc_crash_table_fill(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
			 const struct ptc_crash_source *from, struct ptc_err *err);

#endif
