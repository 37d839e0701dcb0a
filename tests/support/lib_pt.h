/* SPDX-License-Identifier: MIT */
/*
 * Decodes packets over code in memory to text. For a stream with one span the second engine must
 * list the same, as far as it gets. Out of memory aborts.
 */
#ifndef PTC_TESTS_LIB_PT_H
#define PTC_TESTS_LIB_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/engine/engine.h"
#include "decode/image/ipt_image.h"
#include "decode/libipt/ipt_track.h" /* LIBIPT_VERSION */
#include "decode/libipt/replay.h"
#include "lib_packet.h"

/* 57 bytes with every kind of branch; lib_pt.c has the listing. */
enum { PT_CODE = 0x1000, PT_CODE_LEN = 57 };
#define PT_HIGH 0x7f0000000000ull /* the same code is at PT_HIGH + PT_CODE */
extern const uint8_t pt_code[PT_CODE_LEN];

/*
 * Step of tests that flip bits: two or three in each byte. ASan takes ten times as long, so one in
 * every two bytes.
 */
#ifdef __SANITIZE_ADDRESS__
#define PT_FLIP_STEP 15
#define PT_PAIR_STEP 3 /* step of tests that try all pairs of packets */
#define PT_CUT_STEP  3 /* step of tests that cut a long trace anywhere */
#else
#define PT_FLIP_STEP 3
#define PT_PAIR_STEP 1
#define PT_CUT_STEP  1
#endif

/*
 * The second engine treats a damaged trace as libipt 2.0 does. libipt 2.1 finds some damage at
 * another packet (doc/engine.md). With 2.1 such a trace is decoded in all ways, but not compared.
 */
#define PT_OTHER_GAPS(damaged) (LIBIPT_VERSION >= 0x201 && (damaged))

/* Outputs of libipt 2.0 and of 2.1 for a damaged trace. */
#if LIBIPT_VERSION >= 0x201
#define PT_BY_LIBIPT(v20, v21) v21
#else
#define PT_BY_LIBIPT(v20, v21) v20
#endif

/* How pt_replay decodes. All zero: branches, resync at a packet, no times. */
struct pt_how {
	bool insns, bytes, psb, events;
	const struct ptc_time_conv *conv;
	struct ptc_ipt_params params; /* how the trace was made */
	bool disorder;		      /* times may go back */
	bool damaged;		      /* damaged, even if no gap is listed */
	bool once;		      /* decode with libipt only, and not again */
	const struct ptc_mark *marks;
	size_t nmarks;
	uint64_t max_steps;	       /* abort after this many; 0: a million */
	struct ptc_decode_stats stats; /* out */
	struct ptc_sums sums;	       /* out: of all branches, as items and as sums */
	enum ptc_fast_status fast;     /* out, one span: final status of this engine */
	const char *fast_why;	       /* out: the reason if it declined */
	uint64_t pieces;	       /* out: segments decoded without libipt */
};

/*
 * Decodes @trace over pt_code at PT_CODE and PT_HIGH + PT_CODE. Both are at the end of an
 * allocation of exactly their size. Decodes again in rows of steps, over a file with the code
 * (whose blocks libipt caches), and in rows with the second engine where possible. All results must
 * be equal. Returns lines (static, until the next call): "FROM TO KIND", "IP" for instructions,
 * "gap OFFSET LENGTH CAUSE", "event KIND IP VALUE"; with times, "@NS " in front. Aborts when an
 * item is outside the stream.
 */
const char *pt_replay(const struct ptc_buf *trace, struct pt_how *how);
const char *pt_replay_bytes(const uint8_t *trace, size_t len, struct pt_how *how);
/* The same for a stream with several spans. */
const char *pt_replay_stream(const struct ptc_stream *stream, struct pt_how *how);
/* Like pt_replay. Decoding in parts of @part bytes must give the same. */
const char *pt_replay_parts(const struct ptc_buf *trace, size_t part, struct pt_how *how);

#endif
