/* SPDX-License-Identifier: MIT */
/*
 * Cutouts: a small recording with the trace of one shard, and some trace around it (`ptcap convert
 * --shard`). Records in the small recording name the borders of the shard, so that
 * ptc_decode_choose_shard gives the same items there as in the whole recording. Layout:
 * doc/format.md.
 *
 * Calls: ptc_decode_get_cutout, ptc_copy with opts.cutout, ptc_cutout_release.
 */
#ifndef PTCAP_CUTOUT_H
#define PTCAP_CUTOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_decode;

/* event_id of these HEADER_EVENT_TYPE records: "ptcapCUT" in little endian. */
#define PTC_CUTOUT_ID  UINT64_C(0x5455437061637470)
/* An offset: the end of the queue, in the whole recording and in the cutout. */
#define PTC_CUTOUT_END UINT64_MAX

/* One queue. Offsets count bytes of the AUX stream, as in AUXTRACE records. */
struct ptc_cutout_queue {
	uint64_t idx; /* of its AUXTRACE records */
	/* The begin and the end of the shard: a PSB in front, and the first PSB at or behind it. */
	uint64_t from_arm, from_at, to_arm, to_at;
	uint64_t keep_from, keep_to; /* the trace to keep: [keep_from, keep_to) */
};

struct ptc_cutout {
	uint32_t i, n; /* shard i of n; n 0: the recording is no cutout */
	bool timed;    /* the shard is [from_ns, to_ns), by the clock of the recording */
	uint64_t from_ns, to_ns;
	struct ptc_cutout_queue *queues; /* owned; ascending idx */
	size_t nqueues;
};

/* The record of a cutout. A cutout of many queues has several such records, with other queues. */
struct ptc_cutout_record {
	struct ptc_cutout head; /* without queues */
	struct ptc_cur at;	/* borrowed; ptc_cutout_next takes queues from it */
	uint32_t size;		/* bytes of a queue; a newer writer may have more numbers */
};

/*
 * Decode @rec if it is a record of a cutout. Returns 1 and fills *@ret, 0 for any other record, or
 * PTC_E_FORMAT.
 */
PTC_API int ptc_cutout_parse(const struct ptc_rec *rec, struct ptc_cutout_record *ret,
			     struct ptc_err *err);
/* Takes the next queue. Returns false if there is none. */
PTC_API bool ptc_cutout_next(struct ptc_cutout_record *r, struct ptc_cutout_queue *ret);

/*
 * Before ptc_decode_run: get which trace a recording of shard @i of @n alone needs
 * (ptcap/cutout.h).
 * @d is opened without opts.tids and opts.cpus, and is of no further use. The caller releases
 * *@ret, also on failure. PTC_E_UNSUPPORTED: the trace cannot be cut. Other errors: of
 * ptc_decode_choose_shard.
 */
PTC_API int ptc_decode_get_cutout(struct ptc_decode *d, uint32_t i, uint32_t n,
				  struct ptc_cutout *ret, struct ptc_err *err);

/* Returns whether the recording is shard *@ret_i of *@ret_n alone. */
PTC_API bool ptc_decode_is_cutout(const struct ptc_decode *d, uint32_t *ret_i, uint32_t *ret_n);

/* Frees the queues, and sets all members to 0. */
PTC_API void ptc_cutout_release(struct ptc_cutout *c);

#ifdef __cplusplus
}
#endif
#endif
