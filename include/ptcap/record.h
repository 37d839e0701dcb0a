/* SPDX-License-Identifier: MIT */
/*
 * A record of perf.data, the numbers and names of record types, and helpers that all record parsers
 * share. Layout: struct perf_event_header of include/uapi/linux/perf_event.h.
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
	 * Bytes reserved for a struct perf_event_attr in our structures, so that their layout does
	 * not depend on the kernel header a program is compiled with.
	 */
	PTC_ATTR_ROOM = 256,
};

/* Types of the records that perf itself makes: tools/lib/perf/include/perf/event.h. */
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

/* One record, borrowed from its file or ring. */
struct ptc_rec {
	uint64_t off; /* file offset of its header */
	uint32_t type;
	uint16_t misc;
	struct ptc_cur body; /* bytes after the header; end with the sample_id trailer, if any */
};

/*
 * Take the record at the front of @c. @off: its offset in the file. Returns 1 with *@ret set and @c
 * moved behind it, or 0 if @c is empty. PTC_E_FORMAT: a size below 8 or beyond the end, so no
 * record can follow.
 */
PTC_API int ptc_rec_next(struct ptc_cur *c, uint64_t off, struct ptc_rec *ret, struct ptc_err *err);

/*
 * Returns the bytes that follow the record and are not part of its size: the trace of an AUXTRACE,
 * the text of a HEADER_TRACING_DATA. Returns 0 for any other record, or if the record is too short
 * for the number. The number is a claim of the record: the caller compares it with the bytes
 * available.
 */
PTC_API uint64_t ptc_rec_trailing(const struct ptc_rec *rec);

/* Returns the name of a type: "MMAP2", "AUXTRACE_INFO", ...; static; NULL for an unknown type. */
PTC_API const char *ptc_rec_name(uint32_t type);

/* The GNU build-id of a program or library. */
enum { PTC_BUILD_ID_MAX = 20 };

/* len bytes of an id, at most PTC_BUILD_ID_MAX. */
struct ptc_build_id {
	uint8_t bytes[PTC_BUILD_ID_MAX];
	uint8_t len; /* 0: none */
};

/* Write lower-case hex and a NUL to @out, which needs 2 * PTC_BUILD_ID_MAX + 1 bytes. */
PTC_API void ptc_build_id_hex(const struct ptc_build_id *id, char *out);

#ifdef __cplusplus
}
#endif
#endif
