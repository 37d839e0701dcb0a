/* SPDX-License-Identifier: MIT */
/*
 * Simulates the kernel's side of a ring pair for a software source: a data ring and an AUX ring,
 * laid out as in struct perf_event_mmap_page. Another thread may write them, or another process
 * that was forked after the rings were made. ptc_ring and ptc_aux read them like the kernel's.
 *
 * By default nothing is lost: a producer that finds no free space waits for the consumer. In lossy
 * mode it does the same as the kernel. A record that does not fit is counted, and a
 * PERF_RECORD_LOST precedes the next record that fits. AUX bytes that do not fit are dropped, and
 * the caller learns of it in order to report TRUNCATED.
 *
 * In overwrite mode the AUX ring is for snapshots (ptc_snapshot reads it). The oldest bytes are
 * overwritten, whether read or not. The page's aux_head is then an offset in the buffer. The data
 * ring stays the same.
 */
#ifndef PTC_CAPTURE_SOFT_SOFTRING_H
#define PTC_CAPTURE_SOFT_SOFTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/record/sample.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

struct ptc_softring;

struct ptc_softring_opts {
	size_t data_size; /* bytes, a power of two and a multiple of the page size */
	size_t aux_size;  /* same rules; 0: no AUX ring */
	/* AUX bytes between wakeups of the consumer; 0: a quarter of the ring */
	size_t aux_watermark;
	bool lossy;
	bool overwrite;	      /* for the AUX ring */
	uint64_t sample_type; /* describes the trailer of LOST records */
};

int ptc_softring_new(const struct ptc_softring_opts *opts, struct ptc_softring **ret,
		     struct ptc_err *err);
void ptc_softring_free(struct ptc_softring *r);

/* --- parts that the consumer maps, in the kernel's layout --- */
struct perf_event_mmap_page *ptc_softring_page(struct ptc_softring *r);
void *ptc_softring_aux(struct ptc_softring *r);
size_t ptc_softring_data_size(const struct ptc_softring *r);
size_t ptc_softring_aux_size(const struct ptc_softring *r);
bool ptc_softring_overwrites(const struct ptc_softring *r);
/*
 * Returns an eventfd. It is readable (poll) once a quarter of the data ring, or the AUX watermark,
 * has accumulated. It also is when the producer waits, or has called ptc_softring_wake. The
 * consumer reads the fd first, then the rings. So data that arrives in between wakes it again.
 */
int ptc_softring_fd(const struct ptc_softring *r);
/*
 * Call after moving a tail: a producer that waits for free space checks again. Any thread may call
 * it.
 */
void ptc_softring_consumed(struct ptc_softring *r);
/*
 * The consumer is gone: a wait for free space ends, and none starts again. Data that does not fit
 * is dropped and counted as lost. Any thread or process may call it, also from a signal handler.
 */
void ptc_softring_close(struct ptc_softring *r);

/* --- producer --- */
/*
 * Appends one whole record (size a multiple of 8). Returns 0, or 1 if it was dropped. A record as
 * large as the ring is always dropped. @id fills the trailer of a LOST record that may precede the
 * record.
 */
int ptc_softring_record(struct ptc_softring *r, const void *rec, size_t len,
			const struct ptc_sample_id *id);

/*
 * Appends AUX bytes without publishing them. Returns the number that fitted. In lossless mode it
 * waits for free space until all fit, or until close. First it publishes earlier bytes, since the
 * consumer can free only published ones. @on_publish (may be NULL) is called before each such
 * publication, to write the PERF_RECORD_AUX for [from, to). In lossy mode, or after close, the
 * bytes that do not fit are counted as lost. In overwrite mode all bytes fit.
 */
size_t ptc_softring_aux_write(struct ptc_softring *r, const void *bytes, size_t len,
			      void (*on_publish)(void *ctx, uint64_t from, uint64_t to), void *ctx);
/* Number of bytes written, and published, since the ring was made. */
uint64_t ptc_softring_aux_head(const struct ptc_softring *r);
uint64_t ptc_softring_aux_published(const struct ptc_softring *r);
/*
 * Stores aux_head and wakes the consumer if the watermark was passed. The caller has written the
 * AUX record before. At the end call ptc_softring_wake. In overwrite mode it does not wake the
 * consumer. The producer must stop before it publishes, and write nothing until the consumer has
 * read.
 */
void ptc_softring_aux_publish(struct ptc_softring *r);
/* Wakes the consumer, regardless of the watermark. */
void ptc_softring_wake(struct ptc_softring *r);

/* Numbers of dropped records and AUX bytes. The producer counts; read them after it has stopped. */
uint64_t ptc_softring_lost_records(const struct ptc_softring *r);
uint64_t ptc_softring_lost_aux(const struct ptc_softring *r);

#endif
