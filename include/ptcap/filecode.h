/* SPDX-License-Identifier: MIT */
/*
 * Code of a mapped file that was deleted or replaced before the recording ended, or before a
 * snapshot was taken. The recording then contains the code itself. Layout: doc/format.md.
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

/* event_id of these HEADER_EVENT_TYPE records: "ptcapCOD" in little endian. */
#define PTC_FILECODE_ID UINT64_C(0x444f437061637470)

/* One range of code of a file. */
struct ptc_filecode {
	uint64_t maj, min, ino; /* as in MMAP2 */
	uint64_t size;		/* bytes of the whole file */
	uint64_t off;		/* file offset of the bytes; page-aligned */
	struct ptc_build_id id; /* len 0: the file has no build-id */
	const char *name;	/* as in MMAP2; borrowed from the record */
	struct ptc_cur bytes;	/* borrowed from the record */
};

/*
 * Decode @rec if it is such a record. Returns 1 and fills *@ret, 0 for any other record, or
 * PTC_E_FORMAT.
 */
PTC_API int ptc_filecode_parse(const struct ptc_rec *rec, struct ptc_filecode *ret,
			       struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
