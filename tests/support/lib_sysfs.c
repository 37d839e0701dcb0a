/* SPDX-License-Identifier: MIT */
#include "lib_sysfs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DEVICES "sys/bus/event_source/devices"

/* Unit tests and fuzz targets use this file, so it has no framework's assert. */
static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	abort();
}

void sysfs_set(const char *root, const char *pmu, const char *file, const char *text)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, pmu, file);
	f = fopen(path, "w");
	must(f != NULL, path);
	must(fputs(text, f) >= 0, path);
	must(fclose(f) == 0, path);
}

static void make_folders(const char *root, const char *pmu)
{
	static const char *const dirs[] = { "sys", "sys/bus", "sys/bus/event_source", DEVICES };
	static const char *const inner[] = { "", "/format", "/caps" };
	char path[512];
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		must(mkdir(path, 0755) == 0, path);
	}
	for (i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/" DEVICES "/%s%s", root, pmu, inner[i]);
		must(mkdir(path, 0755) == 0, path);
	}
}

void sysfs_make(char *root, size_t size, const char *pmu)
{
	static const char *const files[][2] = {
		{ "type", "8\n" },
		{ "format/pt", "config:0\n" },
		{ "format/cyc", "config:1\n" },
		{ "format/pwr_evt", "config:4\n" },
		{ "format/fup_on_ptw", "config:5\n" },
		{ "format/mtc", "config:9\n" },
		{ "format/tsc", "config:10\n" },
		{ "format/noretcomp", "config:11\n" },
		{ "format/ptw", "config:12\n" },
		{ "format/branch", "config:13\n" },
		{ "format/mtc_period", "config:14-17\n" },
		{ "format/cyc_thresh", "config:19-22\n" },
		{ "format/psb_period", "config:24-27\n" },
		{ "caps/mtc", "1\n" },
		{ "caps/mtc_periods", "249\n" },
		{ "caps/psb_cyc", "1\n" },
		{ "caps/psb_periods", "3f\n" },
		{ "caps/cycle_thresholds", "3f\n" },
		{ "caps/ptwrite", "0\n" },
		{ "caps/power_event_trace", "0\n" },
		{ "nr_addr_filters", "2\n" },
		{ "max_nonturbo_ratio", "34\n" },
		{ "tsc_art_ratio", "284:2\n" },
	};
	size_t i;

	(void)snprintf(root, size, "/tmp/ptcap-sysfs.XXXXXX");
	must(mkdtemp(root) != NULL, root);
	make_folders(root, pmu);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		sysfs_set(root, pmu, files[i][0], files[i][1]);
}

void sysfs_remove(const char *root)
{
	char cmd[128];

	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	must(system(cmd) == 0, cmd);
}
