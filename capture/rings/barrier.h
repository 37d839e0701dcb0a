/* SPDX-License-Identifier: MIT */
/*
 * All accesses to a ring's shared page.
 *
 * The protocol (kernel/events/ring_buffer.c, perf_output_put_handle; the AUX part is the same with
 * aux_head and aux_tail):
 *
 *   producer                              consumer
 *     A: load-acquire tail                  C: load-acquire head
 *     write data                            read data
 *     B: store-release head                 D: store-release tail
 *
 * A pairs with D: the producer sees free space only after the consumer has finished reading it. B
 * pairs with C: the consumer sees a head only after the bytes before it. The producer is the kernel
 * or a software source.
 */
#ifndef PTC_CAPTURE_RINGS_BARRIER_H
#define PTC_CAPTURE_RINGS_BARRIER_H

#include <stdint.h>

#include <linux/perf_event.h>

/* Load C of the protocol above. */
static inline uint64_t ptc_load_head(const volatile __u64 *head)
{
	return __atomic_load_n(head, __ATOMIC_ACQUIRE);
}

/* Store D of the protocol above. */
/* NOLINTNEXTLINE(readability-non-const-parameter): clang-tidy does not see the builtin's store */
static inline void ptc_store_tail(volatile __u64 *tail, uint64_t v)
{
	__atomic_store_n(tail, v, __ATOMIC_RELEASE);
}

/* Load A, for software sources. A consumer that takes over a ring also uses it to read the tail. */
static inline uint64_t ptc_load_tail(const volatile __u64 *tail)
{
	return __atomic_load_n(tail, __ATOMIC_ACQUIRE);
}

/* Store B, for software sources only. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as for ptc_store_tail */
static inline void ptc_store_head(volatile __u64 *head, uint64_t v)
{
	__atomic_store_n(head, v, __ATOMIC_RELEASE);
}

/*
 * Loads a field of the page's clock, which a seqlock protects (perf_event_mmap_page.lock;
 * kernel/events/core.c, perf_event_update_userpage). The lock is odd while the kernel writes. Each
 * load acquires: no field is read before the first read of the lock, or after the second read.
 */
#define ptc_load_seq(field) __atomic_load_n(field, __ATOMIC_ACQUIRE)

#endif
