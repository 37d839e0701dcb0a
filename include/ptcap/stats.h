/* SPDX-License-Identifier: MIT */
/* Counters of a decode, and the causes of its gaps. */
#ifndef PTCAP_STATS_H
#define PTCAP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reasons for a GAP item. */
enum ptc_gap_cause {
	PTC_GAP_NONE = 0,
	PTC_GAP_OVERFLOW,  /* OVF: the processor dropped packets */
	PTC_GAP_TRUNCATED, /* an AUX record with the TRUNCATED flag: the buffer was full */
	PTC_GAP_PARTIAL,   /* an AUX record with the PARTIAL flag */
	PTC_GAP_LOST,	   /* bytes of the AUX stream are missing in the file, or LOST records */
	PTC_GAP_NOCODE,	   /* no code bytes at the address */
	PTC_GAP_BADPACKET, /* bytes that are no valid packet */
	PTC_GAP_DESYNC,	   /* packets do not match the code or each other */
	/*
	 * Trace before a snapshot that was not kept; not a loss. If the gap concerns the whole
	 * queue, pid and tid are -1, and no tid filter hides the gap. Otherwise the thread moved
	 * between CPUs while nothing was kept, and the items before and after are not connected
	 */
	PTC_GAP_SNAPSHOT,
	PTC_GAP_COUNT,
	PTC_GAP_MAX = 16 /* arrays have this size: later versions may have more causes */
};

/* Returns the name of a cause: "overflow", "truncated", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_gap_name(enum ptc_gap_cause cause);

/*
 * Counters of a run. Initialize with PTC_DECODE_STATS_INIT: a library of another version sets only
 * the members that it and the caller know.
 */
struct ptc_decode_stats {
	size_t size;		    /* sizeof(struct ptc_decode_stats) */
	uint64_t aux_bytes;	    /* trace bytes of the file that were decoded */
	uint64_t branches;	    /* given to the sink, or counted for opts.sums */
	uint64_t insns;		    /* retired instructions in the decoded trace */
	uint64_t gaps[PTC_GAP_MAX]; /* number of gaps of each cause */
	uint64_t missing_files;	    /* files whose code was needed but not found */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_decode_stats ptc_decode_stats_init(void)
{
	struct ptc_decode_stats ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_DECODE_STATS_INIT ptc_decode_stats_init()
#else
/* clang-format off */
#define PTC_DECODE_STATS_INIT \
	{ \
		.size = sizeof(struct ptc_decode_stats) \
	}
/* clang-format on */
#endif

/*
 * Work of the second engine, if opts.engine is not LIBIPT. A segment is the trace from one PSB to
 * the next. Initialize with PTC_ENGINE_STATS_INIT.
 */
struct ptc_engine_stats {
	size_t size;		/* sizeof(struct ptc_engine_stats) */
	uint64_t pieces, bytes; /* segments and bytes decoded by the second engine */
	uint64_t differing;	/* VERIFY: segments that differ from libipt's result */
	uint64_t declined;	/* segments that only libipt decoded */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_engine_stats ptc_engine_stats_init(void)
{
	struct ptc_engine_stats ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_ENGINE_STATS_INIT ptc_engine_stats_init()
#else
/* clang-format off */
#define PTC_ENGINE_STATS_INIT \
	{ \
		.size = sizeof(struct ptc_engine_stats) \
	}
/* clang-format on */
#endif

/* A reason for declined segments. */
struct ptc_engine_reason {
	const char *why; /* text, static */
	uint64_t pieces;
};

struct ptc_decode;

/* Get the counters so far. Without a size in *@ret nothing is set. */
PTC_API void ptc_decode_get_stats(const struct ptc_decode *d, struct ptc_decode_stats *ret);

/*
 * Get the second engine's counters of this run; all zero with PTC_ENGINE_LIBIPT. Without a size in
 * *@ret nothing is set.
 */
PTC_API void ptc_decode_get_engine_stats(const struct ptc_decode *d, struct ptc_engine_stats *ret);
/* Get reason @i for declined segments. Returns false if there is no such reason. */
PTC_API bool ptc_decode_get_engine_reason(const struct ptc_decode *d, size_t i,
					  struct ptc_engine_reason *ret);

#ifdef __cplusplus
}
#endif
#endif
