/* SPDX-License-Identifier: MIT */
/*
 * Rules for data that threads with the same code read while one of them adds to it. The writer
 * claims the place where the data can be found, and publishes the data with the last store. A
 * reader sees either none or all of it, so no lock is needed. Published data does not change,
 * except hints. A hint may have any value that was ever stored.
 */
#ifndef PTC_DECODE_ENGINE_ATOMICS_H
#define PTC_DECODE_ENGINE_ATOMICS_H

/*
 * Release store: a reader that loads this value with ptc_fast_see() also sees all earlier writes.
 */
#define ptc_fast_publish(field, v) __atomic_store_n(field, v, __ATOMIC_RELEASE)
#define ptc_fast_see(field)	   __atomic_load_n(field, __ATOMIC_ACQUIRE)

/*
 * Compare and swap: @field becomes @v if it is *@was. On failure false: another thread was faster,
 * and *@was is the current value. All writes before that value was stored are visible.
 */
#define ptc_fast_claim(field, was, v)                                                              \
	__atomic_compare_exchange_n(field, was, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Hints, and numbers that say nothing about other memory. */
#define ptc_fast_put_hint(field, v) __atomic_store_n(field, v, __ATOMIC_RELAXED)
#define ptc_fast_get_hint(field)    __atomic_load_n(field, __ATOMIC_RELAXED)

#endif
