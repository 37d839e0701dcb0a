/* SPDX-License-Identifier: MIT */
/*
 * A record of perf.data, its type's number and name, and what all parsers of
 * records share. Layout: struct perf_event_header of
 * include/uapi/linux/perf_event.h.
 */
#ifndef PTCAP_RECORD_H
#define PTCAP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	PTC_REC_HEADER_SIZE = 8, /* u32 type, u16 misc, u16 size */
	PTC_REC_MAX = 65528,	 /* size is u16 and a multiple of 8 */

	/*
	 * Bytes there are for a struct perf_event_attr in our structures, so that they are
	 * the same whatever kernel header a program is compiled with.
	 */
	PTC_ATTR_ROOM = 256,
};

/* Records that perf itself makes: tools/lib/perf/include/perf/event.h. */
enum {
	PTC_REC_USER_START = 64,
	PTC_REC_HEADER_ATTR = 64,
	PTC_REC_HEADER_EVENT_TYPE = 65,
	PTC_REC_HEADER_TRACING_DATA = 66,
	PTC_REC_HEADER_BUILD_ID = 67,
	PTC_REC_FINISHED_ROUND = 68,
	PTC_REC_ID_INDEX = 69,
	PTC_REC_AUXTRACE_INFO = 70,
	PTC_REC_AUXTRACE = 71,
	PTC_REC_AUXTRACE_ERROR = 72,
	PTC_REC_THREAD_MAP = 73,
	PTC_REC_CPU_MAP = 74,
	PTC_REC_STAT_CONFIG = 75,
	PTC_REC_STAT = 76,
	PTC_REC_STAT_ROUND = 77,
	PTC_REC_EVENT_UPDATE = 78,
	PTC_REC_TIME_CONV = 79,
	PTC_REC_HEADER_FEATURE = 80,
	PTC_REC_COMPRESSED = 81,
	PTC_REC_FINISHED_INIT = 82,
	PTC_REC_COMPRESSED2 = 83,
	PTC_REC_BPF_METADATA = 84,
	PTC_REC_SCHEDSTAT_CPU = 85,
	PTC_REC_SCHEDSTAT_DOMAIN = 86,
};

/* One record, lent from the file or ring it is in. */
struct ptc_rec {
	uint64_t off; /* of its header, in the file */
	uint32_t type;
	uint16_t misc;
	struct ptc_cur body; /* behind the header; ends with the sample_id trailer, if any */
};

/*
 * Take the record at the front of @c. @off is its offset in the file. Returns
 * 1 with *@ret set and the cursor behind it; 0 when nothing is left; or
 * PTC_E_FORMAT (a size below 8 or beyond the end: nothing can follow).
 */
PTC_API int ptc_rec_next(struct ptc_cur *c, uint64_t off, struct ptc_rec *ret, struct ptc_err *err);

/*
 * Bytes that follow the record and are not part of its size: the trace of an
 * AUXTRACE, the text of a HEADER_TRACING_DATA. 0 for every other record, and
 * for one too short to say. It is the record's claim: hold it against what is
 * there.
 */
PTC_API uint64_t ptc_rec_trailing(const struct ptc_rec *rec);

/* "MMAP2", "AUXTRACE_INFO", ...; NULL for a type we do not know. */
PTC_API const char *ptc_rec_name(uint32_t type);

/* The GNU build-id of a program or library. */
enum { PTC_BUILD_ID_MAX = 20 };

struct ptc_build_id {
	uint8_t bytes[PTC_BUILD_ID_MAX];
	uint8_t len; /* 0: none */
};

/* Lower-case hex and a NUL; @out has room for 2 * PTC_BUILD_ID_MAX + 1. */
PTC_API void ptc_build_id_hex(const struct ptc_build_id *id, char *out);

#ifdef __cplusplus
}
#endif
#endif
