/* SPDX-License-Identifier: MIT */
#include "capture/doctor/ring_trial.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/perf/attr_fallback.h"
#include "capture/perf/cpus.h"
#include "capture/perf/event.h"

enum { CONTROL_PAGE = 4096, TRIAL_MAX = 64 << 20 };

/* The mapped rings of a CPU. */
struct trial_ring {
	int fd; /* -1: none */
	void *data, *aux;
	size_t data_size, aux_size; /* 0: not mapped */
};

static int map_ring(struct trial_ring *r, const struct ptc_ring_sizes *s, bool pt)
{
	const size_t data = (pt ? s->data : s->aux) + CONTROL_PAGE;
	struct perf_event_mmap_page *page;

	page = mmap(NULL, data, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (page == MAP_FAILED)
		return errno;
	r->data = page;
	r->data_size = data;
	if (!pt)
		return 0;
	page->aux_offset = data;
	page->aux_size = s->aux;
	r->aux = mmap(NULL, s->aux, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)data);
	if (r->aux == MAP_FAILED)
		return errno;
	r->aux_size = s->aux;
	return 0;
}

static int open_and_map(struct trial_ring *r, const struct perf_event_attr *wanted, int cpu,
			const struct ptc_ring_sizes *s, bool pt)
{
	const struct ptc_perf_where at = { .pid = 0, .cpu = cpu, .flags = PERF_FLAG_FD_CLOEXEC };
	struct perf_event_attr attr = *wanted;

	attr.disabled = 1;
	attr.size = ptc_perf_attr_size(&attr);
	r->fd = ptc_opener_kernel.open(ptc_opener_kernel.ctx, &attr, &at);
	return r->fd < 0 ? -r->fd : map_ring(r, s, pt);
}

static void unmap_ring(const struct trial_ring *r)
{
	if (r->aux_size)
		(void)munmap(r->aux, r->aux_size);
	if (r->data_size)
		(void)munmap(r->data, r->data_size);
	if (r->fd >= 0)
		(void)close(r->fd);
}

static int try_cpus(const struct ptc_cpus *cpus, const struct ptc_ring_sizes *s, bool pt)
{
	const struct ptc_event_base base = { .psb_period = 0 };
	struct trial_ring *rings = calloc(cpus->n, sizeof(*rings));
	struct ptc_err ignored;
	struct ptc_event e;
	int refused = 0;
	size_t i, n;

	if (!rings)
		return PTC_TRIAL_NONE;
	if (ptc_event_parse(&e, pt ? PTC_EVENT_DEFAULT : "dummy:u", &base, "", &ignored))
		refused = ENODEV;
	for (n = 0; !refused && n < cpus->n; n++)
		refused = open_and_map(&rings[n], &e.attr, cpus->items[n], s, pt);
	for (i = 0; i < n; i++)
		unmap_ring(&rings[i]);
	free(rings);
	return refused;
}

int ptc_ring_trial(const struct ptc_facts *f, const struct ptc_ring_sizes *s)
{
	const bool pt = f->has_pmu && !f->tried.pt;
	struct ptc_cpus cpus = PTC_CPUS_INIT;
	struct ptc_err ignored;
	int ret = PTC_TRIAL_NONE;

	if (f->tried.event || !s->aux || ptc_cpus_online(&cpus, "", &ignored))
		return PTC_TRIAL_NONE;
	if (cpus.n && (s->data + s->aux) * cpus.n <= TRIAL_MAX)
		ret = try_cpus(&cpus, s, pt);
	ptc_cpus_release(&cpus);
	return ret;
}
