/* SPDX-License-Identifier: MIT */
/*
 * Description: the statements of doc/adr/0016 about perf_event_open's ABI, tested on this kernel.
 *
 * Uses software events and breakpoints, which need no PMU. A test is skipped if the kernel or the
 * user may not open its events.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __func__, __LINE__, #cond,       \
				errno);                                                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { PAGE = 4096, RING = 8 * PAGE, TOUCHES = 64 };

static volatile int watched, other; /* watched by breakpoints */

/* --- events --- */

static struct perf_event_attr software(uint64_t config)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* Returns an attr that counts each write to @p. */
static struct perf_event_attr breakpoint(const volatile int *p)
{
	struct perf_event_attr a = software(0);

	a.type = PERF_TYPE_BREAKPOINT;
	a.bp_type = HW_BREAKPOINT_W;
	a.bp_addr = (uintptr_t)p;
	a.bp_len = HW_BREAKPOINT_LEN_4;
	return a;
}

static int open_with(struct perf_event_attr a, int cpu, int group, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, &a, 0, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
}

static int must_open(struct perf_event_attr a)
{
	const int fd = open_with(a, -1, -1, 0);

	CHECK(fd >= 0);
	return fd;
}

static int refused(struct perf_event_attr a)
{
	const int fd = open_with(a, -1, -1, 0);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 ? 0 : errno;
}

struct reading {
	uint64_t value, enabled, running;
};

static struct reading get(int fd)
{
	struct reading r;

	CHECK(read(fd, &r, sizeof(r)) == (ssize_t)sizeof(r));
	return r;
}

/* Causes @n page faults. */
static void touch(int n)
{
	volatile char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	CHECK(p != MAP_FAILED);
	(void)madvise((void *)(uintptr_t)p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		p[(size_t)i * PAGE] = 1;
	(void)munmap((void *)(uintptr_t)p, (size_t)n * PAGE);
}

static struct perf_event_mmap_page *map_ring(int fd)
{
	void *p = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static uint64_t bytes_in(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* --- ioctl --- */

static void enable_disable_reset(void)
{
	const int fd = must_open(software(PERF_COUNT_SW_PAGE_FAULTS));
	uint64_t n;

	touch(TOUCHES);
	CHECK(get(fd).value == 0);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	touch(TOUCHES);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	n = get(fd).value;
	CHECK(n >= TOUCHES);
	touch(TOUCHES);
	CHECK(get(fd).value == n);
	/* RESET clears only the count; the times go on. */
	CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	CHECK(get(fd).value == 0);
	CHECK(get(fd).enabled > 0);
	(void)close(fd);
}

static void period(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_mmap_page *page;
	uint64_t often, rarely = 16;
	int fd;

	fd = must_open(a);
	page = map_ring(fd);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	touch(TOUCHES);
	often = bytes_in(page);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_PERIOD, &rarely));
	touch(TOUCHES);
	CHECK(often >= (uint64_t)TOUCHES * 16);
	CHECK(bytes_in(page) - often < often / 2);
	(void)munmap(page, PAGE + RING);
	(void)close(fd);
}

/* Returns false under hypervisors that accept breakpoints and never report one. */
static bool fires(void)
{
	const int fd = must_open(breakpoint(&watched));
	uint64_t n;

	watched++;
	n = get(fd).value;
	(void)close(fd);
	return n != 0;
}

static void refresh(void)
{
	const int fd = must_open(breakpoint(&watched));
	int i;

	/* Enabled for two overflows, then disables itself. */
	CHECK(!ioctl(fd, PERF_EVENT_IOC_REFRESH, 2));
	for (i = 0; i < 5; i++)
		watched++;
	CHECK(get(fd).value == 2);
	(void)close(fd);
}

static void id_and_output(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	const int first = must_open(a), second = must_open(a), elsewhere = open_with(a, 0, -1, 0);
	struct perf_event_mmap_page *page = map_ring(first);
	uint64_t id[2], seen;

	CHECK(elsewhere >= 0);
	CHECK(!ioctl(first, PERF_EVENT_IOC_ID, &id[0]) &&
	      !ioctl(second, PERF_EVENT_IOC_ID, &id[1]));
	CHECK(id[0] != id[1]);
	CHECK(!ioctl(second, PERF_EVENT_IOC_SET_OUTPUT, first));
	CHECK(ioctl(elsewhere, PERF_EVENT_IOC_SET_OUTPUT, first) && errno == EINVAL);
	CHECK(!ioctl(second, PERF_EVENT_IOC_ENABLE, 0));
	touch(1);
	CHECK(!ioctl(second, PERF_EVENT_IOC_DISABLE, 0));
	CHECK(bytes_in(page) >= 16);
	memcpy(&seen, (char *)page + PAGE + 8, sizeof(seen));
	CHECK(seen == id[1]);
	/* Output back to none: its records go to no ring. */
	CHECK(!ioctl(second, PERF_EVENT_IOC_SET_OUTPUT, -1L));
	(void)munmap(page, PAGE + RING);
	(void)close(elsewhere);
	(void)close(second);
	(void)close(first);
}

static void pause_output(void)
{
	const int fd = must_open(software(PERF_COUNT_SW_PAGE_FAULTS));
	struct perf_event_mmap_page *page = map_ring(fd);
	uint64_t n;

	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	touch(1);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	n = bytes_in(page);
	touch(TOUCHES);
	CHECK(bytes_in(page) == n); /* lost, and not counted as lost */
	CHECK(get(fd).value >= TOUCHES);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	touch(1);
	CHECK(bytes_in(page) > n);
	(void)munmap(page, PAGE + RING);
	(void)close(fd);
}

static void filters_and_bpf(void)
{
	const int fd = must_open(software(PERF_COUNT_SW_PAGE_FAULTS));

	CHECK(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "filter 0x1000/0x10@/bin/true") &&
	      errno == EINVAL);
	CHECK(ioctl(fd, PERF_EVENT_IOC_SET_BPF, -1));
	(void)close(fd);
}

static void modify(void)
{
	struct perf_event_attr there = breakpoint(&watched), here = breakpoint(&other);
	const int fd = must_open(there), sw = must_open(software(PERF_COUNT_SW_DUMMY));

	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	here.disabled = 0;
	CHECK(!ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &here));
	watched++;
	other++;
	other++;
	CHECK(get(fd).value == 2);
	/* Only breakpoints can be changed while they are open, no other events. */
	CHECK(ioctl(sw, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &here));
	(void)close(sw);
	(void)close(fd);
}

/* --- groups and flags --- */

static void group(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS), member = a;
	int leader, second, alone;

	member.disabled = 0;
	leader = must_open(a);
	second = open_with(member, -1, leader, 0);
	alone = open_with(a, -1, leader,
			  PERF_FLAG_FD_NO_GROUP); /* the leader only provides the output */
	CHECK(second >= 0 && alone >= 0);
	touch(TOUCHES);
	CHECK(get(second).value == 0); /* off with its leader: its sideband would be lost */
	CHECK(!ioctl(second, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	touch(TOUCHES);
	CHECK(get(leader).value >= TOUCHES && get(second).value >= TOUCHES);
	CHECK(get(alone).value == 0);
	CHECK(!ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	CHECK(!ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	touch(TOUCHES);
	CHECK(get(second).value == 0);
	(void)close(alone);
	(void)close(second);
	(void)close(leader);
}

static void all_of_a_group_in_one_read(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct {
		uint64_t n, enabled, running, values[4];
	} r;
	int leader, second;

	a.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	leader = must_open(a);
	a.disabled = 0;
	second = open_with(a, -1, leader, 0);
	CHECK(second >= 0);
	CHECK(!ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	touch(TOUCHES);
	CHECK(!ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	CHECK(read(leader, &r, sizeof(r)) == (ssize_t)sizeof(r));
	CHECK(r.n == 2 && r.values[0] == r.values[2] && r.values[1] != r.values[3]);
	CHECK(r.enabled && r.enabled == r.running);
	(void)close(second);
	(void)close(leader);
}

/*
 * For an event on one CPU, enabled is the task's total time, and running is its time on that CPU.
 */
static void running_is_part_of_enabled(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_DUMMY);
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t running = 0, enabled = UINT64_MAX;
	int fd[64];
	long i;

	if (cpus > 64)
		return;
	for (i = 0; i < cpus; i++) {
		fd[i] = open_with(a, (int)i, -1, 0);
		CHECK(fd[i] >= 0 && !ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0));
	}
	touch(TOUCHES);
	for (i = 0; i < cpus; i++)
		CHECK(!ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0));
	for (i = 0; i < cpus; i++) {
		const struct reading r = get(fd[i]);

		running += r.running;
		enabled = r.enabled < enabled ? r.enabled : enabled;
		(void)close(fd[i]);
	}
	CHECK(running > 0 && enabled > 0);
}

/* --- notifications --- */

static volatile sig_atomic_t signals, signal_fd;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	signals++;
	signal_fd = info->si_fd;
}

static void asynchronous(void)
{
	struct perf_event_attr a = breakpoint(&watched);
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	int fd, i;

	a.wakeup_events = 1;
	fd = must_open(a);
	CHECK(!sigaction(SIGRTMIN, &act, NULL));
	CHECK(!fcntl(fd, F_SETOWN, getpid()) && !fcntl(fd, F_SETSIG, SIGRTMIN) &&
	      !fcntl(fd, F_SETFL, O_ASYNC));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	watched++;
	for (i = 0; !signals && i < 600000; i++) /* the signal is sent from an interrupt */
		(void)usleep(1000);
	CHECK(signals == 1 && signal_fd == fd);
	(void)close(fd);
}

static void prctl_is_for_all_of_this_task(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	const int one = must_open(a), two = must_open(a);
	uint64_t n;

	CHECK(!prctl(PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0));
	touch(TOUCHES);
	CHECK(!prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0));
	n = get(one).value;
	CHECK(n >= TOUCHES && get(two).value >= TOUCHES);
	touch(TOUCHES);
	CHECK(get(one).value == n);
	(void)close(two);
	(void)close(one);
}

/* --- attr --- */

static void what_excludes_what(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_DUMMY);

	a.remove_on_exec = 1;
	if (refused(a) == E2BIG || refused(a) == EINVAL)
		return; /* kernel before 5.13 */
	a.enable_on_exec = 1;
	CHECK(refused(a) == EINVAL);
	a = software(PERF_COUNT_SW_DUMMY);
	a.sigtrap = 1;
	CHECK(refused(a) == EINVAL);
	a.remove_on_exec = 1;
	CHECK(refused(a) == 0);
	a = software(PERF_COUNT_SW_DUMMY);
	a.inherit_thread = 1;
	CHECK(refused(a) == EINVAL);
	a.inherit = 1;
	CHECK(refused(a) == 0);
}

/* The records use that clock, to which no TSC of a trace can be converted. */
static void clockid(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_mmap_page *page;
	struct timespec before, after;
	uint64_t ns;
	int fd;

	a.sample_type = PERF_SAMPLE_TIME;
	a.use_clockid = 1;
	a.clockid = CLOCK_REALTIME;
	fd = must_open(a);
	page = map_ring(fd);
	CHECK(!clock_gettime(CLOCK_REALTIME, &before));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	touch(1);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	CHECK(!clock_gettime(CLOCK_REALTIME, &after));
	CHECK(bytes_in(page) >= 16);
	memcpy(&ns, (char *)page + PAGE + 8, sizeof(ns));
	CHECK(ns / 1000000000 >= (uint64_t)before.tv_sec &&
	      ns / 1000000000 <= (uint64_t)after.tv_sec);
	CHECK(!page->cap_user_time_zero);
	(void)munmap(page, PAGE + RING);
	(void)close(fd);
}

/* Backward rings have the newest record first, followed by older ones: for overwrite mode. */
static void backward(void)
{
	struct perf_event_attr a = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_header newest;
	struct perf_event_mmap_page *page;
	int fd, forward;

	forward = must_open(a);
	a.write_backward = 1;
	fd = must_open(a);
	page = mmap(NULL, PAGE + RING, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	CHECK(ioctl(forward, PERF_EVENT_IOC_SET_OUTPUT, fd) && errno == EINVAL);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	touch(1);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	CHECK((int64_t)bytes_in(page) < 0);
	memcpy(&newest, (char *)page + PAGE + (bytes_in(page) & (RING - 1)), sizeof(newest));
	CHECK(newest.type == PERF_RECORD_SAMPLE && newest.size == 16);
	(void)munmap(page, PAGE + RING);
	(void)close(fd);
	(void)close(forward);
}

int main(void)
{
	static void (*const all[])(void) = {
		enable_disable_reset,
		period,
		id_and_output,
		pause_output,
		filters_and_bpf,
		group,
		all_of_a_group_in_one_read,
		running_is_part_of_enabled,
		prctl_is_for_all_of_this_task,
		what_excludes_what,
		clockid,
		backward,
	};
	static void (*const breakpoints[])(void) = { refresh, modify, asynchronous };
	const int sys = refused(software(PERF_COUNT_SW_PAGE_FAULTS));
	size_t i;

	if (sys) {
		printf("no events here: %s\n", strerror(sys));
		return 77;
	}
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i]();
	if (refused(breakpoint(&watched)) || !fires()) {
		puts("no breakpoints here");
		return 0;
	}
	for (i = 0; i < sizeof(breakpoints) / sizeof(breakpoints[0]); i++)
		breakpoints[i]();
	return 0;
}
