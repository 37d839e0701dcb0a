/* SPDX-License-Identifier: MIT */
/*
 * The kernel's part of a ring pair, played by a software source: a data ring
 * and an AUX ring laid out as struct perf_event_mmap_page says, written from
 * another thread or, forked after the ring was made, another process; read by
 * ptc_ring and ptc_aux like the kernel's.
 *
 * Lossless by default: a producer that finds no room waits for the consumer.
 * In lossy mode it does what the kernel does: a record that does not fit is
 * counted and a PERF_RECORD_LOST precedes the next one that does; AUX bytes
 * that do not fit are dropped and the caller is told, to say TRUNCATED.
 *
 * With overwrite the AUX ring is one of snapshots (ptc_snapshot reads it): it is written
 * round and round, whatever has been read; the page's aux_head is then a position in the
 * buffer. The data ring is as without.
 */
#ifndef PTC_CAPTURE_SOFT_SOFTRING_H
#define PTC_CAPTURE_SOFT_SOFTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/sample.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

struct ptc_softring;

struct ptc_softring_opts {
	size_t data_size;     /* bytes, a power of two, a multiple of the page size */
	size_t aux_size;      /* the same; 0: no AUX */
	size_t aux_watermark; /* AUX bytes between wakeups of the consumer; 0: a quarter of all */
	bool lossy;
	bool overwrite;	      /* of the AUX ring */
	uint64_t sample_type; /* for the trailer of LOST records */
};

int ptc_softring_new(const struct ptc_softring_opts *opts, struct ptc_softring **ret,
		     struct ptc_err *err);
void ptc_softring_free(struct ptc_softring *r);

/* --- what the consumer maps; as the kernel would give it --- */
struct perf_event_mmap_page *ptc_softring_page(struct ptc_softring *r);
void *ptc_softring_aux(struct ptc_softring *r);
size_t ptc_softring_data_size(const struct ptc_softring *r);
size_t ptc_softring_aux_size(const struct ptc_softring *r);
bool ptc_softring_overwrites(const struct ptc_softring *r);
/*
 * An eventfd, readable (poll) when there is something worth reading: a quarter
 * of the data ring or the AUX watermark has come together, the producer waits,
 * or it called ptc_softring_wake. The consumer reads the fd first, then the
 * rings: what arrives in between wakes it again.
 */
int ptc_softring_fd(const struct ptc_softring *r);
/* The consumer moved a tail: a producer that waits for room looks again. Any thread. */
void ptc_softring_consumed(struct ptc_softring *r);
/*
 * The consumer is gone: a wait for room ends and no other begins, what does not
 * fit any more is dropped and counted as lost. Any thread, any process; also
 * from a signal handler.
 */
void ptc_softring_close(struct ptc_softring *r);

/* --- the producer --- */
/*
 * Append one whole record (size a multiple of 8). Returns 0, or 1 if it was
 * dropped (a record as large as the ring always is). @id fills the trailer of a
 * LOST record that may come before it.
 */
int ptc_softring_record(struct ptc_softring *r, const void *rec, size_t len,
			const struct ptc_sample_id *id);

/*
 * Append AUX bytes without publishing them. Returns how many fitted: less than
 * @len in lossy mode only (or after close); the rest is counted as lost. In
 * lossless mode waits for room, publishing what is there first, because the
 * consumer could not make any otherwise; @on_publish (may be NULL) is called
 * before each such publication, to write the PERF_RECORD_AUX for [from, to). With
 * overwrite all of them always fit.
 */
size_t ptc_softring_aux_write(struct ptc_softring *r, const void *bytes, size_t len,
			      void (*on_publish)(void *ctx, uint64_t from, uint64_t to), void *ctx);
/* Bytes written, and published, since the ring was made. */
uint64_t ptc_softring_aux_head(const struct ptc_softring *r);
uint64_t ptc_softring_aux_published(const struct ptc_softring *r);
/*
 * Store aux_head (after the caller has written its AUX record); wakes the
 * consumer if the watermark was passed. At the end: ptc_softring_wake. With
 * overwrite it does not wake; nothing may be written again before the consumer
 * has read, so only a producer that stops publishes.
 */
void ptc_softring_aux_publish(struct ptc_softring *r);
/* Wake the consumer, whatever the watermark. */
void ptc_softring_wake(struct ptc_softring *r);

/* What was dropped: records and AUX bytes. Producer's counters; read them when it has stopped. */
uint64_t ptc_softring_lost_records(const struct ptc_softring *r);
uint64_t ptc_softring_lost_aux(const struct ptc_softring *r);

#endif
