/* SPDX-License-Identifier: MIT */
/* Description: the facts of `ptcap doctor` are read below a root, from files of any content. */
#include <criterion/criterion.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/doctor/facts.h"
#include "lib_sysfs.h"

#define BIT(cap) (UINT64_C(1) << (cap))

static void put_file(const char *root, const char *path, const char *text)
{
	char name[512], *slash;
	FILE *f;

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	for (slash = name + strlen(root); (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
		*slash = '\0';
		(void)mkdir(name, 0755);
	}
	f = fopen(name, "w");
	cr_assert(f, "%s", name);
	(void)fputs(text, f);
	(void)fclose(f);
}

Test(doctor_facts, facts_are_read_below_a_root)
{
	struct ptc_facts f;
	char root[64];

	sysfs_make(root, sizeof(root), "intel_pt");
	put_file(root, "/proc/self/status",
		 "Name:\tx\nUid:\t1000\t1001\t1000\t1000\nCapInh:\t0\nCapEff:\t0000004000080000\n"
		 "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t5\n");
	put_file(root, "/proc/self/cgroup", "0::/kubepods/burstable/pod7\n");
	put_file(root, "/proc/sys/kernel/yama/ptrace_scope", "2\n");
	put_file(root, "/proc/meminfo", "MemTotal: 4000 kB\nMemAvailable:    3000 kB\n");
	put_file(root, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	put_file(root, "/sys/bus/event_source/devices/cpu/type", "4\n");
	put_file(root, "/sys/bus/event_source/devices/cpu/caps/branches", "16\n");
	ptc_facts_read(&f, root);
	cr_assert_eq(f.uid, 1001);
	cr_assert_eq(f.caps, BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE));
	cr_assert_eq(f.seccomp, 2);
	cr_assert_eq(f.filters, 5);
	cr_assert_eq(f.yama, 2);
	cr_assert_eq(f.available, 3000ul * 1024);
	cr_assert_str_eq(f.lockdown, "integrity");
	cr_assert_str_eq(f.container, "kubepods (/proc/self/cgroup)");
	cr_assert(f.has_pmu && f.pmu.type == 8 && f.has_counters && f.lbr_entries == 16);
	put_file(root, "/run/.containerenv", "");
	ptc_facts_read(&f, root);
	cr_assert_str_eq(f.container, "podman (/run/.containerenv)");
	put_file(root, "/run/systemd/container", "systemd-nspawn\n");
	ptc_facts_read(&f, root);
	cr_assert_str_eq(f.container, "systemd-nspawn (/run/systemd/container)");
	sysfs_remove(root);
}

Test(doctor_facts, a_root_without_files_is_an_old_or_hidden_machine)
{
	struct ptc_facts f;

	ptc_facts_read(&f, "/nonexistent");
	cr_assert_eq(f.yama, PTC_FACT_NONE);
	cr_assert_eq(f.seccomp, PTC_FACT_NONE);
	cr_assert(!f.has_pmu && !f.has_counters && !f.caps && !f.available);
	cr_assert_str_eq(f.container, "");
}

Test(doctor_facts, a_number_is_found_by_its_whole_name_at_the_begin_of_a_line)
{
	uint64_t n = 7;

	cr_assert(ptc_fact_number("XSeccomp:\t1\nSeccomp_filters:\t3\nSeccomp:\t2\n", "Seccomp", 10,
				  &n));
	cr_assert_eq(n, 2);
	cr_assert(!ptc_fact_number("Seccomp", "Seccomp", 10, &n));
	cr_assert(!ptc_fact_number("Seccomp:\n", "CapEff", 10, &n));
	cr_assert(!ptc_fact_number("", "CapEff", 10, &n));
	cr_assert_eq(n, 2);
}
