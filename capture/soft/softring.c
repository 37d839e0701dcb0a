/* SPDX-License-Identifier: MIT */
#include "capture/soft/softring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/rings/barrier.h"
#include "capture/rings/window.h"

enum {
	PAGE = 4096,
	LOST_SIZE = 24, /* PERF_RECORD_LOST without its trailer: header, id, count */
};

/* Shared state that has no field in the kernel's page. The producer may be another process. */
struct shared {
	bool closed; /* atomic: set by the consumer, read by the producer */
	/* written by the producer: totals since the ring was made */
	uint64_t lost_records, lost_aux;
};

struct ptc_softring {
	/* Shared with the consumer; accesses follow the protocol of barrier.h. */
	struct perf_event_mmap_page *page;
	uint8_t *data; /* after the page, in the same mapping */
	uint8_t *aux;  /* NULL: none */

	/* Written once, before the consumer starts. */
	size_t data_size, aux_size;
	size_t data_watermark, aux_watermark;
	uint64_t sample_type;
	bool lossy, overwrite;
	int wake_fd; /* producer -> consumer */
	int room_fd; /* consumer -> producer */
	struct shared *shared;

	/* Used by the producer only. */
	uint64_t head, woken; /* data ring: head, written and published; head at the last wakeup */
	uint64_t aux_head, aux_published, aux_woken;
	uint64_t lost_pending; /* dropped records that no LOST record has reported yet */
	struct ptc_buf lost;   /* buffer for the LOST record */
};

static bool is_ring_size(size_t n)
{
	return n >= PAGE && !(n & (n - 1));
}

/* Anonymous memory, because the user's file size limit also applies to files and memfds. */
static void *map_shared(size_t len, struct ptc_err *err)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map != MAP_FAILED)
		return map;
	(void)ptc_fail_sys(err, errno, "cannot create a ring of %zu bytes", len);
	return NULL;
}

int ptc_softring_new(const struct ptc_softring_opts *opts, struct ptc_softring **ret,
		     struct ptc_err *err)
{
	struct ptc_softring *r;

	if (!is_ring_size(opts->data_size) || (opts->aux_size && !is_ring_size(opts->aux_size)))
		return ptc_fail(err, PTC_E_USAGE,
				"a ring size is not a power of two of at least one page: %zu, %zu",
				opts->data_size, opts->aux_size);
	if (opts->aux_watermark > opts->aux_size)
		return ptc_fail(err, PTC_E_USAGE, "the AUX watermark is larger than the AUX ring");
	r = calloc(1, sizeof(*r));
	if (!r)
		return ptc_fail_mem(err);
	r->data_size = opts->data_size;
	r->aux_size = opts->aux_size;
	r->data_watermark = opts->data_size / 4;
	r->aux_watermark = opts->aux_watermark ? opts->aux_watermark : opts->aux_size / 4;
	r->sample_type = opts->sample_type;
	r->lossy = opts->lossy;
	r->overwrite = opts->overwrite;
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->room_fd = eventfd(0, EFD_CLOEXEC); /* blocking: the producer waits in a read */
	if (r->wake_fd < 0 || r->room_fd < 0) {
		(void)ptc_fail_sys(err, errno, "cannot create an eventfd");
		goto fail;
	}
	r->shared = map_shared(sizeof(*r->shared), err);
	r->page = r->shared ? map_shared(PAGE + r->data_size, err) : NULL;
	if (!r->page)
		goto fail;
	r->data = (uint8_t *)r->page + PAGE;
	r->page->data_offset = PAGE;
	r->page->data_size = r->data_size;
	if (r->aux_size) {
		r->aux = map_shared(r->aux_size, err);
		if (!r->aux)
			goto fail;
		r->page->aux_offset = PAGE + r->data_size;
		r->page->aux_size = r->aux_size;
	}
	*ret = r;
	return 0;
fail:
	ptc_softring_free(r);
	return err->code;
}

void ptc_softring_free(struct ptc_softring *r)
{
	if (!r)
		return;
	if (r->aux)
		(void)munmap(r->aux, r->aux_size);
	if (r->page)
		(void)munmap(r->page, PAGE + r->data_size);
	if (r->shared)
		(void)munmap(r->shared, sizeof(*r->shared));
	if (r->wake_fd >= 0)
		(void)close(r->wake_fd);
	if (r->room_fd >= 0)
		(void)close(r->room_fd);
	ptc_buf_release(&r->lost);
	free(r);
}

struct perf_event_mmap_page *ptc_softring_page(struct ptc_softring *r)
{
	return r->page;
}

void *ptc_softring_aux(struct ptc_softring *r)
{
	return r->aux;
}

size_t ptc_softring_data_size(const struct ptc_softring *r)
{
	return r->data_size;
}

size_t ptc_softring_aux_size(const struct ptc_softring *r)
{
	return r->aux_size;
}

bool ptc_softring_overwrites(const struct ptc_softring *r)
{
	return r->overwrite;
}

int ptc_softring_fd(const struct ptc_softring *r)
{
	return r->wake_fd;
}

void ptc_softring_consumed(struct ptc_softring *r)
{
	(void)eventfd_write(r->room_fd, 1);
}

void ptc_softring_close(struct ptc_softring *r)
{
	__atomic_store_n(&r->shared->closed, true, __ATOMIC_RELEASE);
	(void)eventfd_write(r->room_fd, 1);
}

void ptc_softring_wake(struct ptc_softring *r)
{
	/* EAGAIN is harmless: the counter is full, so the fd is readable */
	(void)eventfd_write(r->wake_fd, 1);
}

/*
 * Waits until the consumer has moved a tail; the ring is full. Returns false if waiting is
 * pointless: lossy mode, or the consumer is gone. The eventfd counts: a tail that moved after the
 * caller's check ends the read at once. The caller checks again in any case.
 */
static bool wait_for_room(struct ptc_softring *r)
{
	eventfd_t n;

	if (r->lossy || __atomic_load_n(&r->shared->closed, __ATOMIC_ACQUIRE))
		return false;
	ptc_softring_wake(r);
	(void)eventfd_read(r->room_fd, &n);
	return true;
}

/* Never fills the last byte of the data ring, like the kernel (CIRC_SPACE in ring_buffer.c). */
static bool has_free_data_bytes(const struct ptc_softring *r, size_t need)
{
	const uint64_t used = r->head - ptc_load_tail(&r->page->data_tail);

	return used < r->data_size && need <= r->data_size - 1 - used;
}

static void copy_into_ring(uint8_t *area, size_t size, uint64_t head, const uint8_t *bytes,
			   size_t len)
{
	const struct ptc_window w = ptc_window_between(head, head + len, size);

	assert(!w.lost);
	memcpy(area + w.off[0], bytes, w.len[0]);
	if (w.len[1])
		memcpy(area + w.off[1], bytes + w.len[0], w.len[1]);
}

static void put_data(struct ptc_softring *r, const void *bytes, size_t len)
{
	copy_into_ring(r->data, r->data_size, r->head, bytes, len);
	r->head += len;
}

/*
 * Builds the LOST record with the number of missing records. False: out of memory, which loses one
 * more record.
 */
static bool make_lost(struct ptc_softring *r, const struct ptc_sample_id *id)
{
	ptc_buf_reset(&r->lost);
	ptc_buf_le32(&r->lost, PERF_RECORD_LOST);
	ptc_buf_le16(&r->lost, 0);
	ptc_buf_le16(&r->lost, (uint16_t)(LOST_SIZE + ptc_sample_id_size(r->sample_type)));
	ptc_buf_le64(&r->lost, id->id);
	ptc_buf_le64(&r->lost, r->lost_pending);
	ptc_sample_id_put(&r->lost, r->sample_type, id);
	return !ptc_buf_failed(&r->lost);
}

int ptc_softring_record(struct ptc_softring *r, const void *rec, size_t len,
			const struct ptc_sample_id *id)
{
	size_t need = len;

	assert(len >= sizeof(struct perf_event_header) && !(len % 8));
	ptc_buf_reset(&r->lost);
	if (r->lost_pending) {
		if (!make_lost(r, id))
			goto drop;
		need += r->lost.len;
	}
	if (need >= r->data_size)
		goto drop;
	while (!has_free_data_bytes(r, need))
		if (!wait_for_room(r))
			goto drop;
	if (r->lost_pending)
		put_data(r, r->lost.bytes, r->lost.len);
	r->lost_pending = 0;
	put_data(r, rec, len);
	ptc_store_head(&r->page->data_head, r->head);
	if (r->head - r->woken >= r->data_watermark) {
		r->woken = r->head;
		ptc_softring_wake(r);
	}
	return 0;
drop:
	r->lost_pending++;
	r->shared->lost_records++;
	return 1;
}

static size_t aux_room(const struct ptc_softring *r)
{
	const uint64_t used = r->aux_head - ptc_load_tail(&r->page->aux_tail);

	return used < r->aux_size ? r->aux_size - (size_t)used : 0;
}

/* Writes without regard to the tail. Leaves out bytes that the same call would overwrite. */
static void write_over(struct ptc_softring *r, const uint8_t *bytes, size_t len)
{
	const size_t n = len < r->aux_size ? len : r->aux_size;

	r->aux_head += len - n;
	copy_into_ring(r->aux, r->aux_size, r->aux_head, bytes + (len - n), n);
	r->aux_head += n;
}

size_t ptc_softring_aux_write(struct ptc_softring *r, const void *bytes, size_t len,
			      void (*on_publish)(void *ctx, uint64_t from, uint64_t to), void *ctx)
{
	const uint8_t *p = bytes;
	size_t done = 0;

	assert(r->aux);
	if (r->overwrite) {
		write_over(r, p, len);
		return len;
	}
	while (done < len) {
		size_t n = aux_room(r);

		if (n > len - done)
			n = len - done;
		/*
		 * Published data must end where the caller's chunk ends, at a packet. If waiting
		 * can free enough space for the whole chunk, write nothing now.
		 */
		if (n < len - done && !r->lossy && len <= r->aux_size - PAGE)
			n = 0;
		copy_into_ring(r->aux, r->aux_size, r->aux_head, p + done, n);
		r->aux_head += n;
		done += n;
		if (done == len)
			break;
		/*
		 * The ring is full. The consumer can free published bytes only, in whole pages. A
		 * full ring always has at least one such page once all of it is published.
		 */
		if (!r->lossy && r->aux_published != r->aux_head) {
			if (on_publish) /* may wait itself: check space again before a wait here */
				on_publish(ctx, r->aux_published, r->aux_head);
			ptc_softring_aux_publish(r);
		} else if (!wait_for_room(r)) {
			break;
		}
	}
	r->shared->lost_aux += len - done;
	return done;
}

uint64_t ptc_softring_aux_head(const struct ptc_softring *r)
{
	return r->aux_head;
}

uint64_t ptc_softring_aux_published(const struct ptc_softring *r)
{
	return r->aux_published;
}

void ptc_softring_aux_publish(struct ptc_softring *r)
{
	r->aux_published = r->aux_head;
	if (r->overwrite) { /* like the kernel: an offset, and no wakeup */
		ptc_store_head(&r->page->aux_head, r->aux_head % r->aux_size);
		return;
	}
	ptc_store_head(&r->page->aux_head, r->aux_head);
	if (r->aux_head - r->aux_woken >= r->aux_watermark) {
		r->aux_woken = r->aux_head;
		ptc_softring_wake(r);
	}
}

uint64_t ptc_softring_lost_records(const struct ptc_softring *r)
{
	return r->shared->lost_records;
}

uint64_t ptc_softring_lost_aux(const struct ptc_softring *r)
{
	return r->shared->lost_aux;
}
