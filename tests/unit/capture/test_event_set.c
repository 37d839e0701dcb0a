/* SPDX-License-Identifier: MIT */
/* Description: which perf events get which ioctl, and in what order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "capture/perf/event_set.h"

/* The requests to the kernel: "D7 E7 " is DISABLE, then ENABLE, of descriptor 7. */
static char asked[256];

static int note(int fd, unsigned long request)
{
	const size_t n = strlen(asked);

	(void)snprintf(asked + n, sizeof(asked) - n, "%c%d ",
		       request == PERF_EVENT_IOC_ENABLE	 ? 'E' :
		       request == PERF_EVENT_IOC_DISABLE ? 'D' :
							   '?',
		       fd);
	return 0;
}

/* Two threads on two CPUs: the events of CPU 0 use ring 0, those of CPU 1 ring 1. */
static struct ptc_slot slots[] = {
	{ .tid = 10, .ring = 0, .fd = { 3, 4, -1 } },
	{ .tid = 10, .ring = 1, .fd = { 5, 6, -1 } },
	{ .tid = 11, .ring = 0, .fd = { 7, 8, -1 } },
	{ .tid = 11, .ring = 1, .fd = { 9, -1, -1 } },
};

static struct ptc_set set(void)
{
	asked[0] = '\0';
	return (struct ptc_set){
		.nevents = 2,
		.slots = slots,
		.nslots = 4,
		.nrings = 2,
		.control = note,
		.again = PTC_AGAIN_INIT,
	};
}

Test(event_set, the_last_event_of_a_target_is_on_only_while_all_are)
{
	struct ptc_set s = set();

	ptc_set_enable(&s);
	cr_assert_str_eq(asked, "E3 E5 E7 E9 ");
	asked[0] = '\0';
	ptc_set_disable(&s);
	cr_assert_str_eq(asked, "D9 D7 D5 D3 ");
}

Test(event_set, a_ring_that_was_full_is_switched_off_and_then_on)
{
	struct ptc_set s = set();

	ptc_set_restart_ring(&s, 0);
	cr_assert_str_eq(asked, "D3 D7 E3 E7 ", "each of its events, no side records");
	asked[0] = '\0';
	ptc_set_restart_ring(&s, 1);
	cr_assert_str_eq(asked, "D5 D9 E5 E9 ");
}

Test(event_set, side_records_go_on_while_the_trace_stands_still)
{
	struct ptc_set s = set();

	ptc_set_enable_side(&s);
	cr_assert_str_eq(asked, "E4 E6 E8 ", "what is not open is not asked");
	asked[0] = '\0';
	ptc_set_disable(&s);
	ptc_set_enable(&s);
	cr_assert_str_eq(asked, "D9 D7 D5 D3 E3 E5 E7 E9 ");
	asked[0] = '\0';
	ptc_set_disable_all(&s);
	cr_assert(strstr(asked, "D3 ") && strstr(asked, "D4 ") && strstr(asked, "D9 "), "%s",
		  asked);
	cr_assert(!strchr(asked, 'E'));
}

Test(event_set, what_takes_branch_stacks_is_on_while_the_trace_is)
{
	struct ptc_slot mine[] = { { .tid = 10, .fd = { 3, 4, 5 } } };
	struct ptc_set s = set();

	s.slots = mine;
	s.nslots = 1;
	s.nevents = 3;
	ptc_set_enable_side(&s);
	ptc_set_enable(&s);
	ptc_set_disable(&s);
	cr_assert_str_eq(asked, "E5 E3 E4 D3 D4 ");
	asked[0] = '\0';
	ptc_set_disable_once(&s);
	cr_assert_str_eq(asked, "D3 D4 ");
	asked[0] = '\0';
	ptc_set_restart_ring(&s, 0);
	cr_assert_str_eq(asked, "D3 E3 ", "its ring is not the one that was full");
	asked[0] = '\0';
	s.grouped = true;
	ptc_set_enable(&s);
	cr_assert_str_eq(asked, "E3 ", "the leader says when");
}

Test(event_set, events_of_a_cpu_that_went_are_left_alone)
{
	struct ptc_slot mine[] = {
		{ .tid = -1, .ring = 0, .fd = { 3, 4, -1 } },
		{ .tid = -1, .ring = 1, .fd = { 5, 6, -1 }, .over = true },
		{ .tid = -1, .ring = 1, .fd = { 7, 8, -1 } },
	};
	struct ptc_set s = set();

	s.slots = mine;
	s.nslots = 3;
	ptc_set_enable_side(&s);
	ptc_set_enable(&s);
	ptc_set_restart_ring(&s, 1);
	cr_assert_str_eq(asked, "E4 E8 E3 E7 D7 E7 ");
}

static int in_use(void *ctx, struct perf_event_attr *attr, const struct ptc_perf_where *at)
{
	(void)ctx;
	(void)attr;
	cr_assert_eq(at->cpu, 5);
	return -EBUSY;
}

/*
 * Old events are never kept twice, whether the new open works or not. EBUSY does not end the
 * recording.
 */
Test(event_set, what_a_cpu_had_is_over_when_it_comes_back)
{
	const struct ptc_event event = { .name = "dummy" };
	struct ptc_slot *mine = calloc(2, sizeof(*mine));
	struct ptc_source_ring rings[] = { { .cpu = 4 }, { .cpu = 5 } };
	struct ptc_set s = set();
	struct ptc_err err;

	mine[0] = (struct ptc_slot){ .tid = -1, .ring = 0, .fd = { 3, 4, -1 } };
	mine[1] = (struct ptc_slot){ .tid = -1, .ring = 1, .fd = { 5, 6, -1 } };
	s.slots = mine;
	s.nslots = s.slots_cap = 2;
	s.rings = rings;
	s.event = &event;
	s.opener = (struct ptc_opener){ in_use, NULL };
	cr_assert_eq(ptc_set_again(&s, -1, 6, true, &err), PTC_E_NOT_EXIST);
	cr_assert_str_eq(asked, "", "it has no ring");
	cr_assert_lt(ptc_set_again(&s, -1, 5, true, &err), 0);
	cr_assert_str_eq(asked, "D5 D6 ");
	cr_assert(s.slots[1].over && !s.slots[0].over && s.nslots == 2);
	free(s.slots);
}

Test(event_set, threads_that_are_born_meanwhile_are_asked_the_second_time)
{
	struct ptc_set s = set();

	s.attr[0].inherit = 1;
	ptc_set_disable(&s);
	cr_assert_str_eq(asked, "D9 D7 D5 D3 D9 D7 D5 D3 ");
	asked[0] = '\0';
	ptc_set_enable(&s);
	cr_assert_str_eq(asked, "E3 E5 E7 E9 E3 E5 E7 E9 ");
}

Test(event_set, a_pause_that_is_checked_later_asks_each_event_once)
{
	struct ptc_set s = set();

	s.attr[0].inherit = 1;
	s.main_on = true;
	ptc_set_disable_once(&s);
	cr_assert_str_eq(asked, "D9 D7 D5 D3 ");
	cr_assert_not(s.main_on, "no repetition enables it");
}

/* Checks that the timer is set to about @ms, then lets it expire. */
static void let_pass(const struct ptc_set *s, long ms)
{
	const struct itimerspec now = { .it_value = { 0, 1 } };
	struct epoll_event ev;
	struct itimerspec t;

	cr_assert(!timerfd_gettime(s->again.fd, &t));
	cr_assert(t.it_value.tv_sec == 0 && t.it_value.tv_nsec > (ms - 1) / 10 * 1000000 &&
			  t.it_value.tv_nsec <= ms * 1000000,
		  "%ld ns", t.it_value.tv_nsec);
	cr_assert(!timerfd_settime(s->again.fd, 0, &now, NULL));
	cr_assert_eq(epoll_wait(s->rings[0].fd, &ev, 1, -1), 1);
}

/* Makes a set with inherited events and a timer that reports when to enable them again. */
static struct ptc_set kept_on(struct ptc_source_ring *ring)
{
	struct ptc_set s = set();
	struct ptc_err err;

	*ring = (struct ptc_source_ring){ .fd = epoll_create1(0) };
	s.rings = ring;
	s.attr[0].inherit = s.attr[1].inherit = 1;
	cr_assert_eq(ptc_set_keep_on(&s, &err), 0);
	return s;
}

static void end(struct ptc_set *s)
{
	ptc_again_release(&s->again);
	(void)close(s->rings[0].fd);
}

Test(event_set, what_else_wakes_for_ring_0_is_told)
{
	struct ptc_source_ring ring;
	struct ptc_set s = kept_on(&ring);
	const int other = eventfd(0, EFD_NONBLOCK);
	struct ptc_err err;

	cr_assert_eq(ptc_set_wake_for(&s, other, &err), 0);
	cr_assert(!ptc_set_reap(&s, 0));
	cr_assert_eq(eventfd_write(other, 1), 0);
	cr_assert(ptc_set_reap(&s, 0) && ptc_set_reap(&s, 0), "until it is read");
	(void)close(other);
	cr_assert(!ptc_set_reap(&s, 0));
	ptc_set_enable(&s);
	let_pass(&s, 10);
	cr_assert(ptc_set_reap(&s, 0), "it is time to switch on again");
	ptc_set_on_again(&s);
	cr_assert(!ptc_set_reap(&s, 0));
	end(&s);
}

Test(event_set, threads_whose_birth_takes_longer_are_asked_later)
{
	struct ptc_source_ring ring;
	struct ptc_set s = kept_on(&ring);
	struct itimerspec t;

	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "", "nothing was switched on");
	ptc_set_enable(&s);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "", "it is not time");
	let_pass(&s, 10);
	ptc_set_enable(&s); /* an expired timer is not put off */
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "E3 E5 E7 E9 ", "no side records, as they are off");
	let_pass(&s, 90);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "E3 E5 E7 E9 ");
	ptc_set_enable_side(&s);
	let_pass(&s, 10);
	ptc_set_on_again(&s);
	let_pass(&s, 90);
	ptc_set_on_again(&s);
	let_pass(&s, 900);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "E4 E6 E8 E3 E5 E7 E9 ");
	cr_assert(!timerfd_gettime(s.again.fd, &t) && !t.it_value.tv_nsec,
		  "that was the last time");
	end(&s);
}

Test(event_set, what_was_switched_off_stays_off)
{
	struct ptc_source_ring ring;
	struct ptc_set s = kept_on(&ring);

	ptc_set_enable_side(&s);
	ptc_set_enable(&s);
	ptc_set_disable(&s);
	let_pass(&s, 10);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "E4 E6 E8 ");
	ptc_set_restart_ring(&s, 1);
	ptc_set_disable_all(&s);
	let_pass(&s, 10);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "");
	end(&s);
}

Test(event_set, a_trace_that_went_on_is_seen_by_its_head)
{
	struct perf_event_mmap_page page[2] = { { .aux_head = 0x100 }, { .aux_head = 0x200 } };
	struct ptc_source_ring rings[] = {
		{ .page = &page[0], .aux_size = 4096 },
		{ .page = &page[1], .aux_size = 4096 },
	};
	uint64_t heads[2] = { 0, 0 };
	struct ptc_set s = set();

	s.rings = rings;
	s.heads = heads;
	cr_assert(ptc_set_moved(&s));
	cr_assert(!ptc_set_moved(&s));
	page[1].aux_head = 0x40; /* the ring may have wrapped around */
	cr_assert(ptc_set_moved(&s) && !ptc_set_moved(&s));
	rings[1].aux_size = 0; /* sampled: no AUX ring to read */
	(void)ptc_set_moved(&s);
	page[1].aux_head = 0x80;
	cr_assert(!ptc_set_moved(&s));
}

Test(event_set, a_pinned_event_in_error_state_stays_there)
{
	struct ptc_source_ring ring;
	struct ptc_set s = kept_on(&ring);

	s.attr[0].pinned = 1;
	ptc_set_restart_ring(&s, 0);
	let_pass(&s, 10);
	asked[0] = '\0';
	ptc_set_on_again(&s);
	cr_assert_str_eq(asked, "");
	end(&s);
}

/* Returns a descriptor from which read(2) gives these values, as from an event. */
static int event(uint64_t enabled, uint64_t running, uint64_t lost)
{
	const uint64_t words[] = { 0, enabled, running, 1, lost };
	const int fd = memfd_create("event", 0);

	cr_assert(fd >= 0 && pwrite(fd, words, sizeof(words), 0) == (ssize_t)sizeof(words));
	return fd;
}

/* A pinned event that does not fit on the PMU is in error state: read(2) returns 0 bytes. */
static int in_error(void)
{
	return open("/dev/null", O_RDONLY);
}

static struct ptc_set_counts count_on(size_t cpus, struct ptc_slot *of, size_t n)
{
	struct ptc_set s = { .nevents = 2, .slots = of, .nslots = n, .cpus.n = cpus };
	struct ptc_set_counts c;
	size_t i;

	s.attr[0].read_format = s.attr[1].read_format = PERF_FORMAT_LOST;
	ptc_set_counts(&s, &c);
	for (i = 0; i < n; i++)
		cr_assert(!close(of[i].fd[0]) && !close(of[i].fd[1]));
	return c;
}

static struct ptc_set_counts count(struct ptc_slot *of, size_t n)
{
	return count_on(1, of, n);
}

Test(event_set, what_events_say_in_the_end)
{
	/* A thread on two CPUs: half of the time on each is the whole time. */
	struct ptc_slot whole[] = {
		{ .tid = 10, .fd = { event(1000, 500, 0), event(1000, 1000, 2), -1 } },
		{ .tid = 10, .fd = { event(1000, 500, 0), event(1000, 1000, 1), -1 } },
	};
	struct ptc_slot hole[] = { { .tid = 10,
				     .fd = { event(1000, 900, 0), event(1, 1, 0), -1 } } };
	/*
	 * The first event was enabled longer, by the switching time; the thread was on another CPU
	 * then.
	 */
	struct ptc_slot switched[] = {
		{ .tid = 10, .fd = { event(1900, 500, 0), event(1, 1, 0), -1 } },
		{ .tid = 10, .fd = { event(1000, 500, 0), event(1, 1, 0), -1 } },
	};
	struct ptc_slot bad[] = { { .tid = 10, .fd = { in_error(), event(1, 1, 0), -1 } } };
	struct ptc_set_counts c = count(whole, 2);

	cr_assert(!c.unscheduled && !c.failed);
	cr_assert_eq(c.enabled_ns, 1000);
	cr_assert_eq(c.running_ns, 1000);
	cr_assert_eq(c.lost, 3);
	cr_assert_eq(c.nevents, 4);
	free(c.events);
	c = count(hole, 1);
	cr_assert_eq(c.unscheduled, 1, "it was on, and another had the PMU");
	free(c.events);
	c = count(switched, 2);
	cr_assert_eq(c.unscheduled, 0, "all were on for 1000, and one of them ran");
	cr_assert_eq(c.events[0].enabled_ns, 1000, "the last one is read first");
	free(c.events);
	c = count(bad, 1);
	cr_assert_eq(c.failed, 1);
	cr_assert(c.events[0].failed);
	free(c.events);
}

/*
 * Thread 11 was created while the events of thread 10 were opened, and inherited the first one.
 * That event counts both threads. The kernel refused another event for thread 11 on that CPU.
 */
Test(event_set, a_thread_that_inherited_an_event_is_not_without_the_pmu)
{
	struct ptc_slot inherited[] = {
		{ .tid = 10, .fd = { event(3000, 1500, 0), event(1, 1, 0), -1 } },
		{ .tid = 10, .fd = { event(2000, 1300, 0), event(1, 1, 0), -1 } },
		{ .tid = 11, .fd = { event(1000, 200, 0), event(1, 1, 0), -1 } },
	};
	struct ptc_slot busy[] = {
		{ .tid = 10, .fd = { event(3000, 1400, 0), event(1, 1, 0), -1 } },
		{ .tid = 10, .fd = { event(2000, 1300, 0), event(1, 1, 0), -1 } },
		{ .tid = 11, .fd = { event(1000, 200, 0), event(1, 1, 0), -1 } },
	};
	struct ptc_set_counts c = count_on(2, inherited, 3);

	cr_assert_eq(c.unscheduled, 0, "thread 11 ran for 800 on the first CPU");
	free(c.events);
	c = count_on(2, busy, 3);
	cr_assert_eq(c.unscheduled, 1, "100 of 3000 are missing");
	free(c.events);
}

Test(event_set, events_whose_target_has_ended_wake_nobody_any_more)
{
	struct ptc_source_ring ring = { .fd = epoll_create1(0) };
	struct ptc_set s = { .rings = &ring, .nrings = 1, .live = 2 };
	struct epoll_event ev = { .events = EPOLLIN };
	int ends[2][2], i;

	for (i = 0; i < 2; i++) {
		cr_assert_eq(pipe(ends[i]), 0);
		ev.data.fd = ends[i][0];
		cr_assert_eq(epoll_ctl(ring.fd, EPOLL_CTL_ADD, ends[i][0], &ev), 0);
	}
	ptc_set_reap(&s, 0);
	cr_assert_eq(s.live, 2);
	(void)close(ends[1][1]);
	ptc_set_reap(&s, 0);
	cr_assert_eq(s.live, 1);
	cr_assert_eq(epoll_wait(ring.fd, &ev, 1, 0), 0);
	cr_assert_eq(s.ended_badly, 0);
}
