/* SPDX-License-Identifier: MIT */
/*
 * The accesses to a ring's shared page, all of them.
 *
 * The protocol (kernel/events/ring_buffer.c, perf_output_put_handle; the AUX
 * part is the same with aux_head and aux_tail):
 *
 *   producer                              consumer
 *     A: load-acquire tail                  C: load-acquire head
 *     write data                            read data
 *     B: store-release head                 D: store-release tail
 *
 * A pairs with D: the producer sees room only after the consumer has finished
 * reading it. B pairs with C: the consumer sees a head only after the bytes
 * before it. The producer is the kernel, or a software source in its place.
 */
#ifndef PTC_CAPTURE_BARRIER_H
#define PTC_CAPTURE_BARRIER_H

#include <stdint.h>

#include <linux/perf_event.h>

/* C */
static inline uint64_t ptc_load_head(const volatile __u64 *head)
{
	return __atomic_load_n(head, __ATOMIC_ACQUIRE);
}

/* D */
/* NOLINTNEXTLINE(readability-non-const-parameter): the builtin's store is not seen */
static inline void ptc_store_tail(volatile __u64 *tail, uint64_t v)
{
	__atomic_store_n(tail, v, __ATOMIC_RELEASE);
}

/* A: software sources; and a consumer that takes over a ring, to see where its tail is */
static inline uint64_t ptc_load_tail(const volatile __u64 *tail)
{
	return __atomic_load_n(tail, __ATOMIC_ACQUIRE);
}

/* B: software sources only */
/* NOLINTNEXTLINE(readability-non-const-parameter): the same */
static inline void ptc_store_head(volatile __u64 *head, uint64_t v)
{
	__atomic_store_n(head, v, __ATOMIC_RELEASE);
}

/*
 * The page's clock is under a seqlock (perf_event_mmap_page.lock; kernel/events/core.c,
 * perf_event_update_userpage): odd while the kernel writes. Each load acquires, so that none moves
 * in front of the first look at the lock, nor the second look in front of any of them.
 */
#define ptc_load_seq(field) __atomic_load_n(field, __ATOMIC_ACQUIRE)

#endif
