/* SPDX-License-Identifier: MIT */
/*
 * What threads that have the same code read while one of them adds to it: who adds claims the place
 * where it is to be found, and publishes what is new with the last store; who reads sees either
 * nothing of it or all. Nobody needs a lock for that. What is once there stays as it is, but for
 * hints, which may be anything that was ever stored.
 */
#ifndef PTC_DECODE_FAST_SHARED_H
#define PTC_DECODE_FAST_SHARED_H

/* What is behind it is there for whoever loads what is stored. */
#define ptc_fast_publish(field, v) __atomic_store_n(field, v, __ATOMIC_RELEASE)
#define ptc_fast_see(field)	   __atomic_load_n(field, __ATOMIC_ACQUIRE)

/*
 * @field becomes @v if it is *@was, which is what it is then, and all that is behind that is there.
 * False: somebody else was faster.
 */
#define ptc_fast_claim(field, was, v)                                                              \
	__atomic_compare_exchange_n(field, was, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Hints, and numbers that say nothing of other memory. */
#define ptc_fast_put_hint(field, v) __atomic_store_n(field, v, __ATOMIC_RELAXED)
#define ptc_fast_get_hint(field)    __atomic_load_n(field, __ATOMIC_RELAXED)

#endif
