/* SPDX-License-Identifier: MIT */
#include "capture/perf/event_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/perf/open_error_text.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void ptc_rings_unmap(const struct ptc_set *s, struct ptc_source_ring *r)
{
	if (r->aux)
		(void)munmap(r->aux, s->aux_size);
	if (r->page)
		(void)munmap(r->page, page_size() + s->data_size);
	r->aux = NULL;
	r->page = NULL;
}

void ptc_rings_release(struct ptc_set *s)
{
	size_t i;

	for (i = 0; i < s->nrings; i++) {
		ptc_rings_unmap(s, &s->rings[i]);
		if (s->rings[i].fd >= 0)
			(void)close(s->rings[i].fd);
	}
	free(s->rings);
	free(s->heads);
	s->rings = NULL;
	s->heads = NULL;
	s->nrings = 0;
}

/*
 * Maps the data pages first. Their control page then gets the AUX offset and size, which the second
 * mmap requires.
 */
static int map_ring(const struct ptc_set *s, struct ptc_source_ring *r, int fd, struct ptc_err *err)
{
	void *map =
		mmap(NULL, page_size() + s->data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return ptc_explain_mmap(err, errno, "the data ring", page_size() + s->data_size,
					s->cpus.n);
	r->page = map;
	if (!s->aux_size)
		return 0;
	r->page->aux_offset = page_size() + s->data_size;
	r->page->aux_size = s->aux_size;
	map = mmap(NULL, s->aux_size, s->overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, (off_t)r->page->aux_offset);
	if (map == MAP_FAILED && (errno == EOPNOTSUPP || errno == ENOSYS))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"'%s' has no AUX area; use a PMU that traces, for example intel_pt",
				s->event->name);
	if (map == MAP_FAILED)
		return ptc_explain_mmap(err, errno, "the AUX ring", s->aux_size, s->cpus.n);
	r->aux = map;
	return 0;
}

int ptc_rings_map(const struct ptc_set *s, struct ptc_source_ring *r, int fd, struct ptc_err *err)
{
	const int rc = map_ring(s, r, fd, err);

	if (rc)
		ptc_rings_unmap(s, r);
	return rc;
}

/* Adds a ring without mappings. */
static int add_ring(struct ptc_set *s, pid_t tid, int cpu, struct ptc_err *err)
{
	struct ptc_source_ring *r;

	if (!ptc_vec_reserve((void **)&s->rings, &s->rings_cap, s->nrings + 1, sizeof(*s->rings)) ||
	    !ptc_vec_reserve((void **)&s->heads, &s->heads_cap, s->nrings + 1, sizeof(*s->heads)))
		return ptc_fail_mem(err);
	s->heads[s->nrings] = 0;
	r = &s->rings[s->nrings];
	*r = (struct ptc_source_ring){
		.data_off = page_size(),
		.data_size = s->data_size,
		.aux_size = s->grouped ? 0 : s->aux_size, /* samples contain the AUX data */
		.fd = epoll_create1(EPOLL_CLOEXEC),
		.idx = (uint32_t)s->nrings,
		.tid = cpu < 0 ? tid : -1,
		.cpu = cpu,
	};
	if (r->fd < 0)
		return ptc_explain_open(err, errno, "an epoll instance", ptc_set_fds(s));
	s->nrings++;
	return 0;
}

int ptc_rings_new(struct ptc_set *s, pid_t tid, int cpu, int fd, struct ptc_err *err)
{
	const int rc = add_ring(s, tid, cpu, err);

	return rc ? rc : ptc_rings_map(s, &s->rings[s->nrings - 1], fd, err);
}

int ptc_rings_spare(struct ptc_set *s, const struct ptc_cpus *cpus, struct ptc_err *err)
{
	size_t i, had;
	int rc = 0;

	for (i = 0; !rc && i < cpus->n; i++)
		if (!ptc_rings_find(s, cpus->items[i], &had))
			rc = add_ring(s, -1, cpus->items[i], err);
	return rc;
}

bool ptc_rings_find(const struct ptc_set *s, int cpu, size_t *ret)
{
	size_t i;

	for (i = 0; cpu >= 0 && i < s->nrings; i++) {
		if (s->rings[i].cpu != cpu)
			continue;
		*ret = i;
		return true;
	}
	return false;
}
