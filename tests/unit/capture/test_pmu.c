/* SPDX-License-Identifier: MIT */
/* Description: what sysfs says of intel_pt becomes an attr.config it accepts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/perf/pmu.h"
#include "capture/pt_config.h"

#define DEVICE "sys/bus/event_source/devices/intel_pt"
#define CAPS   "sys/bus/event_source/devices/intel_pt/caps"

/* A folder with just the PMU in it, as the kernel's driver would show it. */
static void make_root(char *root, size_t size)
{
	static const char *const files[][2] = {
		{ "type", "8\n" },
		{ "caps/mtc", "1\n" },
		{ "caps/mtc_periods", "249\n" },
		{ "caps/psb_cyc", "1\n" },
		{ "caps/psb_periods", "3f\n" },
		{ "max_nonturbo_ratio", "34\n" },
		{ "tsc_art_ratio", "284:2\n" },
	};
	static const char *const dirs[] = {
		"sys",	"sys/bus", "sys/bus/event_source", "sys/bus/event_source/devices",
		DEVICE, CAPS
	};
	char path[512];
	size_t i;

	(void)snprintf(root, size, "/tmp/ptcap-pmu.XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		cr_assert_eq(mkdir(path, 0755), 0);
	}
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f;

		(void)snprintf(path, sizeof(path), "%s/" DEVICE "/%s", root, files[i][0]);
		f = fopen(path, "w");
		cr_assert_not_null(f);
		cr_assert_geq(fputs(files[i][1], f), 0);
		cr_assert_eq(fclose(f), 0);
	}
}

static void remove_root(const char *root)
{
	char cmd[128];

	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	cr_assert_eq(system(cmd), 0);
}

Test(pmu, every_number_of_sysfs_is_read)
{
	struct ptc_pmu p;
	struct ptc_err err;
	char root[64];

	make_root(root, sizeof(root));
	cr_assert_eq(ptc_pmu_read(&p, root, &err), 0);
	cr_assert_eq(p.type, 8);
	cr_assert(p.mtc);
	cr_assert_eq(p.mtc_periods, 0x249);
	cr_assert(p.psb_cyc);
	cr_assert_eq(p.psb_periods, 0x3f);
	cr_assert_eq(p.max_nonturbo_ratio, 34);
	cr_assert_eq(p.tsc_ctc_n, 284);
	cr_assert_eq(p.tsc_ctc_d, 2);
	remove_root(root);
}

Test(pmu, a_machine_without_it_is_told_so)
{
	struct ptc_pmu p;
	struct ptc_err err;

	cr_assert_eq(ptc_pmu_read(&p, "/nowhere", &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "intel_pt"));
}

Test(pmu, the_config_asks_only_for_what_the_pmu_has)
{
	struct ptc_pmu p = { .mtc = true,
			     .mtc_periods = 0x249,
			     .psb_cyc = true,
			     .psb_periods = 0x3f,
			     .tsc_ctc_n = 284,
			     .tsc_ctc_d = 2 };
	struct ptc_err err;
	uint64_t c;

	cr_assert_eq(ptc_pmu_config(&p, false, 0, &c, &err), 0);
	cr_assert_eq(c, PTC_CFG_PT | PTC_CFG_BRANCH | PTC_CFG_TSC | PTC_CFG_MTC |
				3 << PTC_CFG_MTC_FREQ_SHIFT);
	p.mtc_periods = 1 << 6;
	cr_assert_eq(ptc_pmu_config(&p, true, 4096, &c, &err), 0);
	cr_assert_eq(c, PTC_CFG_PT | PTC_CFG_BRANCH | PTC_CFG_TSC | PTC_CFG_MTC |
				PTC_CFG_NORETCOMP | 6 << PTC_CFG_MTC_FREQ_SHIFT |
				1 << PTC_CFG_PSB_SHIFT);
	cr_assert_eq(ptc_pmu_config(&p, false, 2048u << 6, &c, &err), PTC_E_UNSUPPORTED);
	p.tsc_ctc_n = 0; /* MTC without the ratio says nothing */
	cr_assert_eq(ptc_pmu_config(&p, false, 0, &c, &err), 0);
	cr_assert_eq(c & PTC_CFG_MTC, 0);
}
