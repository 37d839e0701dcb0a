/* SPDX-License-Identifier: MIT */
/*
 * Code of a file that was mapped, and was gone or replaced when the recording ended, or a snapshot
 * was taken: the recording has the code itself. Layout: doc/format.md.
 */
#ifndef PTCAP_FILECODE_H
#define PTCAP_FILECODE_H

#include <stdint.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* event_id of these HEADER_EVENT_TYPE records: "ptcapCOD". */
#define PTC_FILECODE_ID UINT64_C(0x444f437061637470)

struct ptc_filecode {
	uint64_t maj, min, ino; /* as in MMAP2 */
	uint64_t size;		/* of the file, in bytes */
	uint64_t off;		/* where in the file the bytes are; a page begins there */
	struct ptc_build_id id; /* len 0: it has none */
	const char *name;	/* as in MMAP2; lent by the record */
	struct ptc_cur bytes;	/* lent by the record */
};

/* Is @rec such a record? Returns 1 and fills *@ret; 0 if it is another one; or PTC_E_FORMAT. */
PTC_API int ptc_filecode_parse(const struct ptc_rec *rec, struct ptc_filecode *ret,
			       struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
