/* SPDX-License-Identifier: MIT */
#include "capture/host/clock.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "auxtrace/record/layout.h"
#include "capture/host/timepage.h"

enum { CALIBRATE_NS = 20000000 };

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * Reads the TSC and @clock at the same moment. Of 8 tries it keeps the fastest: the scheduler
 * disturbed that one least.
 */
static void sample(clockid_t clock, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 8; i++) {
		const uint64_t a = ptc_rdtsc();
		const uint64_t ns = ns_of(clock);
		const uint64_t b = ptc_rdtsc();

		if (b - a < best) {
			best = b - a;
			*ret_tsc = a + (b - a) / 2;
			*ret_ns = ns;
		}
	}
}

void ptc_clock_scale(uint64_t hz, struct ptc_time_conv *ret)
{
	uint16_t shift = 32; /* 1e9 << 31 fits 64 bits */
	uint64_t mult;

	do { /* find the largest shift whose mult fits 32 bits */
		shift--;
		mult = (1000000000ull << shift) / hz;
	} while (mult > UINT32_MAX && shift);
	ret->shift = shift;
	ret->mult = (uint32_t)mult;
}

/*
 * The pages of all events have the same clock. A process may always open a dummy software event on
 * itself.
 */
static bool from_kernel(struct ptc_clock *c)
{
	struct perf_event_attr attr;
	bool ok;
	int fd;
	void *map;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.size = PERF_ATTR_SIZE_VER5;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	map = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (map == MAP_FAILED)
		return false;
	ok = ptc_timepage_read(map, &c->conv);
	(void)munmap(map, (size_t)sysconf(_SC_PAGESIZE));
	if (ok) /* mult / 2^shift is ns per tick */
		c->tsc_hz = (1000000000ull << c->conv.shift) / c->conv.mult;
	return ok;
}

/*
 * Compares the TSC with @clock for at least 10 ms. Returns ticks per second, and one moment in both
 * clocks.
 */
static uint64_t measure(clockid_t clock, uint64_t *ret_tsc, uint64_t *ret_ns)
{
	uint64_t t0 = 0, n0 = 0;

	sample(clock, &t0, &n0);
	do {
		const struct timespec ts = { .tv_nsec = CALIBRATE_NS };

		(void)nanosleep(&ts, NULL);
		sample(clock, ret_tsc, ret_ns);
	} while (*ret_ns - n0 < CALIBRATE_NS / 2 || *ret_tsc <= t0);
	return (uint64_t)((double)(*ret_tsc - t0) * 1e9 / (double)(*ret_ns - n0));
}

/* Sets conv.zero: @tsc then converts to @ns. */
static void begin_at(struct ptc_clock *c, uint64_t tsc, uint64_t ns)
{
	c->conv.zero = 0;
	c->conv.zero = ns - ptc_tsc_to_ns(&c->conv, tsc);
}

void ptc_clock_init(struct ptc_clock *c)
{
	uint64_t tsc = 0, ns = 0;

	memset(c, 0, sizeof(*c));
	c->kernel = from_kernel(c);
	if (c->kernel)
		return;
	c->tsc_hz = measure(CLOCK_MONOTONIC_RAW, &tsc, &ns);
	ptc_clock_scale(c->tsc_hz, &c->conv);
	begin_at(c, tsc, ns);
}

void ptc_clock_init_monotonic(struct ptc_clock *c)
{
	uint64_t tsc = 0, ns = 0;

	memset(c, 0, sizeof(*c));
	if (from_kernel(c)) {
		sample(CLOCK_MONOTONIC, &tsc, &ns);
	} else {
		c->tsc_hz = measure(CLOCK_MONOTONIC, &tsc, &ns);
		ptc_clock_scale(c->tsc_hz, &c->conv);
	}
	begin_at(c, tsc, ns);
}

void ptc_clock_pair(const struct ptc_time_conv *conv, uint64_t *ret_ns, uint64_t *ret_monotonic_ns)
{
	uint64_t tsc = 0;

	sample(CLOCK_MONOTONIC, &tsc, ret_monotonic_ns);
	*ret_ns = ptc_tsc_to_ns(conv, tsc);
}
