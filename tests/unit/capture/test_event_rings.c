/* SPDX-License-Identifier: MIT */
/*
 * Description: which ring pairs a set has, and which parts are mapped. A memfd stands for the
 * event.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/perf/event_rings.h"

enum { DATA = 1 << 16, AUX = 1 << 17 };

/* Each test is a separate process. */
static struct ptc_set s;
static const struct ptc_event event = { .name = "fake" };
static struct ptc_err err;
static int fd;

static void begin(void)
{
	ptc_set_init(&s);
	s.event = &event;
	s.data_size = DATA;
	s.aux_size = AUX;
	fd = memfd_create("event", MFD_CLOEXEC);
	cr_assert(fd >= 0 && !ftruncate(fd, (off_t)1 << 20));
}

static void end(void)
{
	ptc_rings_release(&s);
	(void)close(fd);
}

TestSuite(event_rings, .init = begin, .fini = end);

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns "rw-s" as in /proc/self/maps; "": nothing is mapped at @addr. */
static const char *access_of(const void *addr)
{
	static char how[8];
	unsigned long start, stop;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	bool found = false;

	cr_assert_not_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %7s", &start, &stop, how) == 3 &&
			(unsigned long)addr >= start && (unsigned long)addr < stop;
	(void)fclose(f);
	return found ? how : "";
}

Test(event_rings, a_pair_is_mapped_the_trace_behind_the_records)
{
	const size_t page = page_size();
	struct ptc_source_ring *r;
	void *data, *aux;
	char got[5];

	cr_assert_eq(ptc_rings_new(&s, 55, 3, fd, &err), 0);
	cr_assert_eq(s.nrings, 1);
	r = &s.rings[0];
	cr_assert(r->data_off == page && r->data_size == DATA && r->aux_size == AUX);
	cr_assert(r->cpu == 3 && r->tid == -1 && r->idx == 0 && r->fd >= 0);
	cr_assert_eq(r->page->aux_offset, page + DATA, "the kernel is told where it will be");
	cr_assert_eq(r->page->aux_size, AUX);
	memcpy(r->aux, "trace", 5); /* both map one file at the offset in the page */
	data = r->page;
	aux = r->aux;
	cr_assert_eq(pread(fd, got, 5, (off_t)(page + DATA)), 5);
	cr_assert_eq(memcmp(got, "trace", 5), 0);
	cr_assert_str_eq(access_of(aux), "rw-s");
	ptc_rings_unmap(&s, r);
	cr_assert(!r->page && !r->aux);
	cr_assert_str_eq(access_of(data), "");
	cr_assert_str_eq(access_of(aux), "");
	cr_assert_eq(ptc_rings_map(&s, r, fd, &err), 0);
	cr_assert_eq(memcmp(r->aux, "trace", 5), 0);
}

Test(event_rings, a_trace_that_is_overwritten_is_mapped_to_be_read)
{
	s.overwrite = true;
	cr_assert_eq(ptc_rings_new(&s, -1, 0, fd, &err), 0);
	cr_assert_str_eq(access_of(s.rings[0].aux), "r--s");
	cr_assert_str_eq(access_of(s.rings[0].page), "rw-s");
}

Test(event_rings, without_a_trace_there_are_records_alone)
{
	s.aux_size = 0;
	cr_assert_eq(ptc_rings_new(&s, -1, 0, fd, &err), 0);
	cr_assert(s.rings[0].page && !s.rings[0].aux);
	cr_assert_eq(s.rings[0].page->aux_offset, 0);
}

Test(event_rings, what_cannot_be_mapped_leaves_nothing_mapped)
{
	const int none = eventfd(0, EFD_CLOEXEC);

	cr_assert_lt(ptc_rings_new(&s, -1, 0, none, &err), 0);
	cr_assert(strstr(err.msg, "the data ring"), "%s", err.msg);
	cr_assert(!s.rings[0].page && !s.rings[0].aux);
	s.aux_size = (size_t)1 << 62;
	cr_assert_lt(ptc_rings_new(&s, -1, 1, fd, &err), 0);
	cr_assert(strstr(err.msg, "the AUX ring"), "%s", err.msg);
	cr_assert(!s.rings[1].page && !s.rings[1].aux);
	s.aux_size = 0;
	(void)close(none);
}

Test(event_rings, a_cpu_that_is_not_there_has_a_ring_without_pages)
{
	int all[] = { 0, 1, 2 };
	const struct ptc_cpus cpus = { .items = all, .n = 3 };
	size_t at = 99;

	cr_assert_eq(ptc_rings_new(&s, -1, 1, fd, &err), 0);
	cr_assert(ptc_rings_find(&s, 1, &at) && at == 0);
	cr_assert(!ptc_rings_find(&s, 0, &at) && at == 0, "not touched");
	cr_assert_eq(ptc_rings_spare(&s, &cpus, &err), 0);
	cr_assert_eq(s.nrings, 3, "CPU 1 had one");
	cr_assert(ptc_rings_find(&s, 0, &at) && at == 1 && !s.rings[1].page);
	cr_assert(ptc_rings_find(&s, 2, &at) && at == 2 && s.rings[2].idx == 2);
	cr_assert_eq(ptc_rings_spare(&s, &cpus, &err), 0);
	cr_assert_eq(s.nrings, 3, "now each has one");
}

Test(event_rings, rings_of_threads_are_not_found_by_a_cpu)
{
	size_t at;

	cr_assert_eq(ptc_rings_new(&s, 55, -1, fd, &err), 0);
	cr_assert_eq(s.rings[0].tid, 55);
	cr_assert(!ptc_rings_find(&s, -1, &at));
}
