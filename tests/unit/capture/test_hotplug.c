/* SPDX-License-Identifier: MIT */
/* Description: the kernel's uevents about CPUs are parsed, and other uevents are ignored. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/perf/hotplug.h"

/* Returns -1 if the text is not about a CPU; else the CPU, plus 10000 if it came online. */
static int parsed(const char *text, size_t len)
{
	char *exact = malloc(len + !len);
	bool online = false;
	int cpu = -1;

	memcpy(exact, text, len);
	if (!ptc_hotplug_parse(exact, len, &cpu, &online))
		cpu = -1;
	free(exact);
	return cpu + (online ? 10000 : 0);
}

#define SAYS(text, want) cr_assert_eq(parsed(text, sizeof(text) - 1), want, "%s", text)

Test(hotplug, cpus_come_and_go)
{
	SAYS("online@/devices/system/cpu/cpu3", 10003);
	SAYS("offline@/devices/system/cpu/cpu12", 12);
	SAYS("offline@/devices/system/cpu/cpu8191\0ACTION=offline\0SUBSYSTEM=cpu", 8191);
}

Test(hotplug, what_is_of_no_cpu_is_nothing)
{
	SAYS("", -1);
	SAYS("add@/devices/system/cpu/cpu3", -1);
	SAYS("online@/devices/system/memory/memory3", -1);
	SAYS("online@/devices/system/cpu/cpu", -1);
	SAYS("online@/devices/system/cpu/cpufreq", -1);
	SAYS("online@/devices/system/cpu/cpu3/cache", -1);
	SAYS("online@/devices/system/cpu/cpu99999", -1);
	SAYS("libudev\0online@/devices/system/cpu/cpu3", -1);
}

Test(hotplug, cut_anywhere)
{
	static const char text[] = "online@/devices/system/cpu/cpu37";
	size_t n;

	for (n = 0; n < sizeof(text) - 1; n++)
		cr_assert_eq(parsed(text, n), n == sizeof(text) - 2 ? 10003 : -1, "%zu", n);
}

Test(hotplug, nothing_happens_while_nobody_does_anything)
{
	struct ptc_hotplug h = PTC_HOTPLUG_INIT;
	const struct ptc_cpus none = PTC_CPUS_INIT;
	const struct ptc_hotplug_whose whose = { .among = &none, .mine = &none };
	struct ptc_err err;

	cr_assert_eq(ptc_hotplug_follow(&h, &whose, &err), 0); /* not listening yet */
	ptc_hotplug_listen(&h);
	cr_assert_eq(ptc_hotplug_follow(&h, &whose, &err), 0);
	cr_assert_eq(h.naway + h.came.n, 0);
	ptc_hotplug_release(&h);
	cr_assert_eq(h.fd, -1);
}

/*
 * Records all actions and messages when @events arrive: CPUs 1 and 2 have events, CPU 3 has none.
 */
struct scene {
	struct ptc_hotplug h;
	struct ptc_hotplug_whose whose;
	int out; /* the events are sent here */
	char log[512];
	int refuse;   /* error of recording again */
	uint64_t now; /* one second later at each call */
};

static int mine[] = { 1, 2 };
static const struct ptc_cpus of_mine = { mine, 2, 2 };

static void log_text(void *ctx, const char *text)
{
	struct scene *s = ctx;
	const size_t n = strlen(s->log);

	(void)snprintf(s->log + n, sizeof(s->log) - n, "%s;", text);
}

static int again(void *ctx, int cpu, struct ptc_err *err)
{
	struct scene *s = ctx;
	char text[32];

	(void)snprintf(text, sizeof(text), "again %d", cpu);
	log_text(s, text);
	*err = (struct ptc_err){ .code = s->refuse, .msg = "in use" };
	return s->refuse;
}

static uint64_t now_ns(void *ctx)
{
	struct scene *s = ctx;

	return s->now += 1000000000;
}

static void scene_init(struct scene *s)
{
	int ends[2];

	*s = (struct scene){ .h = PTC_HOTPLUG_INIT };
	s->whose = (struct ptc_hotplug_whose){ .mine = &of_mine,
					       .again = again,
					       .now_ns = now_ns,
					       .ctx = s,
					       .note = log_text,
					       .note_ctx = s };
	cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	s->h.fd = ends[0];
	s->out = ends[1];
}

/* "-1": CPU 1 went offline, "+3": CPU 3 came online. */
static int happens(struct scene *s, const char *what)
{
	struct ptc_err err;

	for (; *what; what += 2) {
		char text[64];
		const int n = snprintf(text, sizeof(text), "%s@/devices/system/cpu/cpu%c",
				       *what == '-' ? "offline" : "online", what[1]);

		cr_assert_eq(write(s->out, text, (size_t)n), n);
	}
	s->log[0] = '\0';
	return ptc_hotplug_follow(&s->h, &s->whose, &err);
}

static void scene_release(struct scene *s)
{
	ptc_hotplug_release(&s->h);
	(void)close(s->out);
}

#define FIRST_MOMENT ": its first moment is not recorded;"
#define RING	     ": the recording has its trace up to then;"

Test(hotplug, a_cpu_that_comes_back_is_recorded_again_each_time)
{
	struct scene s;

	scene_init(&s);
	cr_assert_eq(happens(&s, "-1+1"), 0);
	cr_assert_str_eq(s.log, "again 1;", "%s", s.log);
	cr_assert_eq(happens(&s, "-2-1+1"), 0);
	cr_assert_str_eq(s.log, "again 1;", "%s", s.log);
	cr_assert_eq(happens(&s, ""), 0);
	ptc_hotplug_tell(&s.h, &s.whose);
	cr_assert_str_eq(s.log,
			 "CPU 1 was offline from 1.000000000 to 2.000000000" FIRST_MOMENT
			 "CPU 2 went offline at 3.000000000" RING
			 "CPU 1 was offline from 4.000000000 to 5.000000000" FIRST_MOMENT,
			 "%s", s.log);
	cr_assert_eq(ptc_hotplug_late(&s.h), 2);
	scene_release(&s);
}

Test(hotplug, a_cpu_that_was_not_away_or_has_events_of_tasks_is_left_alone)
{
	struct scene s;

	scene_init(&s);
	cr_assert_eq(happens(&s, "+1"), 0);
	cr_assert_str_eq(s.log, "");
	s.whose.tasks = true;
	cr_assert_eq(happens(&s, "-1+1"), 0);
	cr_assert_str_eq(s.log, "");
	ptc_hotplug_tell(&s.h, &s.whose);
	cr_assert_str_eq(s.log, "CPU 1 was offline from 1.000000000 to 2.000000000;", "%s", s.log);
	cr_assert_eq(ptc_hotplug_late(&s.h), 0);
	s.whose.tasks = false;
	s.whose.among = &of_mine;
	cr_assert_eq(happens(&s, "-3+3"), 0);
	cr_assert_str_eq(s.log, "", "nobody asked for it");
	s.h.missed = true;
	cr_assert_eq(happens(&s, "+2"), 0);
	cr_assert_str_eq(s.log, "again 2;", "who knows");
	scene_release(&s);
}

Test(hotplug, what_cannot_be_recorded_again_is_told_with_the_reason)
{
	struct scene s;

	scene_init(&s);
	s.refuse = PTC_E_BUSY;
	cr_assert_eq(happens(&s, "-1+1"), 0);
	ptc_hotplug_tell(&s.h, &s.whose);
	cr_assert_str_eq(s.log,
			 "again 1;CPU 1 went offline at 1.000000000" RING
			 "CPU 1 came online while recording and is not recorded: in use;",
			 "%s", s.log);
	s.whose.places = true;
	ptc_hotplug_tell(&s.h, &s.whose);
	cr_assert_not_null(strstr(s.log,
				  "not recorded, and places (--at) are not watched there: in "
				  "use;"),
			   "%s", s.log);
	cr_assert(!ptc_hotplug_late(&s.h) && s.h.came.n == 1);
	s.refuse = PTC_E_NO_MEMORY;
	cr_assert_eq(happens(&s, "+1"), PTC_E_NO_MEMORY);
	s.whose.again = NULL;
	cr_assert_eq(happens(&s, "-2+2"), 0);
	cr_assert_str_eq(s.log, "", "the recording is over");
	cr_assert_eq(s.h.came.n, 2);
	scene_release(&s);
}
