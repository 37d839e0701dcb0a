/* SPDX-License-Identifier: MIT */
#include "base/budget.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "ptcap/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
/* From sanitizer/allocator_interface.h, which gcc 12 does not install. */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

static const uint64_t LIMIT_MAX = (uint64_t)4 << 30; /* maximum of the default */
/* Bytes between two measurements of the heap. */
static const uint64_t STEP_MAX = (uint64_t)16 << 20;
/* Part of RLIMIT_AS kept for allocations that must not fail. */
static const uint64_t SPARE = (uint64_t)8 << 20;

/* Part of RLIMIT_AS kept for libdw, which cannot handle failed allocations. */
static const uint64_t FRAGILE = (uint64_t)24 << 20;

/* Shared by all threads; accessed atomically. */
static uint64_t limit;	/* bytes; 0: the default, not computed yet */
static uint64_t held;	/* bytes outside the heap */
static uint64_t credit; /* bytes that may be allocated before the next measurement */

void ptc_memory_set_limit(uint64_t bytes)
{
	__atomic_store_n(&credit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&limit, bytes, __ATOMIC_RELAXED);
}

static uint64_t default_limit(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	const uint64_t quarter = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : 0;

	return quarter && quarter < LIMIT_MAX ? quarter : LIMIT_MAX;
}

uint64_t ptc_budget_limit(void)
{
	uint64_t n = __atomic_load_n(&limit, __ATOMIC_RELAXED);

	if (!n) {
		n = default_limit();
		__atomic_store_n(&limit, n, __ATOMIC_RELAXED);
	}
	return n;
}

static uint64_t heap_used(void)
{
#ifdef SANITIZED
	return __sanitizer_get_current_allocated_bytes();
#else
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
#endif
}

static uint64_t less(uint64_t from, uint64_t n)
{
	return from > n ? from - n : 0;
}

/* Returns the process's address space in bytes: the first number of /proc/self/statm, in pages. */
static uint64_t addresses_used(void)
{
	const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[64] = "";

	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the bytes of address space that RLIMIT_AS leaves. */
static uint64_t addresses_left(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return less(r.rlim_cur, addresses_used() + SPARE);
}

uint64_t ptc_budget_left(void)
{
	const uint64_t left =
		less(ptc_budget_limit(), heap_used() + __atomic_load_n(&held, __ATOMIC_RELAXED));
	const uint64_t addresses = addresses_left();

	return left < addresses ? left : addresses;
}

static void refuse(void)
{
	(void)ptc_err_budget((ptc_budget_limit() + 0xfffff) >> 20);
}

/*
 * Measure the heap and set a new credit. If threads do so at the same time, each may add one step.
 */
static bool refresh_credit(uint64_t n)
{
	const uint64_t left = ptc_budget_left(), part = ptc_budget_limit() / 64;
	const uint64_t step = part < STEP_MAX ? part : STEP_MAX;

	if (n > left) {
		refuse();
		return false;
	}
	__atomic_store_n(&credit, left - n < step ? left - n : step, __ATOMIC_RELAXED);
	return true;
}

bool ptc_budget_allows(uint64_t n)
{
	uint64_t had = __atomic_load_n(&credit, __ATOMIC_RELAXED);

	while (n <= had)
		if (__atomic_compare_exchange_n(&credit, &had, had - n, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return refresh_credit(n);
}

bool ptc_budget_allows_fragile(uint64_t n)
{
	if (!ptc_budget_allows(n))
		return false;
	if (addresses_left() >= FRAGILE)
		return true;
	refuse();
	return false;
}

bool ptc_budget_refused(void)
{
	return ptc_err_budget(0);
}

void ptc_budget_hold(uint64_t n)
{
	(void)__atomic_add_fetch(&held, n, __ATOMIC_RELAXED);
}

void ptc_budget_drop(uint64_t n)
{
	(void)__atomic_sub_fetch(&held, n, __ATOMIC_RELAXED);
}
