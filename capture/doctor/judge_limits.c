/* SPDX-License-Identifier: MIT */
/* Judges of the limits of a recording: memory of rings, and descriptors. */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "capture/doctor/judge.h"
#include "capture/source/source.h"

enum {
	KIB = 1024,
	CONTROL_PAGE = 4096, /* the kernel counts it too */
	AUX_TO_DATA = 16,    /* the most that the AUX ring may exceed the data ring */
};

static bool is_unlimited(const struct ptc_facts *f)
{
	return f->limits.paranoid < 0 || ptc_facts_have(f, CAP_IPC_LOCK) ||
	       f->limits.memlock >= UINT64_MAX / 2;
}

/*
 * Bytes of all rings together: kernel/events/core.c, perf_mmap(). The pages beyond
 * perf_event_mlock_kb for each online CPU count against RLIMIT_MEMLOCK.
 */
static uint64_t allowed_bytes(const struct ptc_facts *f)
{
	return (uint64_t)f->limits.mlock_kb * KIB * (uint64_t)f->limits.cpus + f->limits.memlock;
}

struct ptc_ring_sizes ptc_ring_sizes_largest(const struct ptc_facts *f, uint64_t rings,
					     bool *ret_limited)
{
	const uint64_t all = is_unlimited(f) ? f->available / 2 : allowed_bytes(f);
	const uint64_t each = rings ? all / rings : 0;
	struct ptc_ring_sizes best = { 0, 0 };
	uint64_t data, aux;

	*ret_limited = !is_unlimited(f);
	for (aux = PTC_RING_MIN; aux <= PTC_RING_MAX; aux *= 2)
		for (data = PTC_RING_MIN; data <= aux; data *= 2)
			if (aux / data <= AUX_TO_DATA && data + aux + CONTROL_PAGE <= each &&
			    data + aux >= best.data + best.aux)
				best = (struct ptc_ring_sizes){ data, aux };
	return best;
}

/* Writes "256K" or "4M". */
static void put_size(char *out, size_t size, uint64_t bytes)
{
	if (bytes >> 30)
		(void)snprintf(out, size, "%" PRIu64 "G", bytes / KIB / KIB / KIB);
	else if (bytes >> 20)
		(void)snprintf(out, size, "%" PRIu64 "M", bytes / KIB / KIB);
	else
		(void)snprintf(out, size, "%" PRIu64 "K", bytes / KIB);
}

void ptc_judge_rings(const struct ptc_facts *f, struct ptc_check *c)
{
	const uint64_t rings = (uint64_t)f->limits.cpus;
	char data[24], aux[24];
	bool limited;
	const struct ptc_ring_sizes s = ptc_ring_sizes_largest(f, rings, &limited);

	put_size(data, sizeof(data), s.data);
	put_size(aux, sizeof(aux), s.aux);
	if (!s.aux)
		ptc_check_set(c, PTC_CHECK_BROKEN, "no ring fits");
	else
		ptc_check_set(c, limited ? PTC_CHECK_NOTE : PTC_CHECK_OK, "at most -m %s,%s", data,
			      aux);
	if (f->tried.rings > 0) {
		c->state = PTC_CHECK_NOTE;
		ptc_check_add(c, ", which the kernel refuses now (%s: other rings are in use)",
			      strerrordesc_np(f->tried.rings));
	} else {
		ptc_check_add(c, f->tried.rings ? " (computed)" : " (tried)");
	}
	ptc_check_add(c, " for each of %" PRIu64 " CPU%s", rings, rings == 1 ? "" : "s");
	if (!limited) {
		ptc_check_add(c,
			      ": this user has no limit, and half of the free memory holds them");
		return;
	}
	ptc_check_add(c,
		      ": perf_event_mlock_kb allows %ld KiB for each CPU, RLIMIT_MEMLOCK %" PRIu64
		      " KiB more",
		      f->limits.mlock_kb, f->limits.memlock / KIB);
	ptc_check_mend(c, "sudo prlimit --pid $$ --memlock=unlimited");
}

void ptc_judge_descriptors(const struct ptc_facts *f, struct ptc_check *c)
{
	const uint64_t cpus = (uint64_t)f->limits.cpus, each = PTC_EVENTS_EACH * cpus;
	const uint64_t threads = f->limits.files / each;

	ptc_check_set(c, threads < 16 ? PTC_CHECK_NOTE : PTC_CHECK_OK,
		      "at most %" PRIu64 ": each attached thread needs %" PRIu64
		      ", so about %" PRIu64 " thread%s",
		      f->limits.files, each, threads, threads == 1 ? "" : "s");
	if (threads < 16)
		ptc_check_mend(c, "sudo prlimit --pid $$ --nofile=1048576");
}
