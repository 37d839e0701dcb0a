/* SPDX-License-Identifier: MIT */
/* Description: what the kernel's uevents say of CPUs, and of nothing else. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/perf/hotplug.h"

/* -1: it is of no CPU; else the CPU, plus 10000 if it came. */
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
	struct ptc_hotplug_seen seen;
	struct ptc_err err;

	cr_assert_eq(ptc_hotplug_read(&h, NULL, &seen, &err), 0); /* not listening */
	cr_assert_eq(seen.came.n + seen.gone.n, 0);
	ptc_hotplug_listen(&h);
	cr_assert_eq(ptc_hotplug_read(&h, &none, &seen, &err), 0);
	cr_assert_eq(seen.came.n + seen.gone.n, 0);
	ptc_hotplug_release(&h);
	cr_assert_eq(h.fd, -1);
}
