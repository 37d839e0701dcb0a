/* SPDX-License-Identifier: MIT */
/* Lists of CPUs in the format of sysfs and -C: "0-3,8". */
#ifndef PTC_CAPTURE_PERF_CPUS_H
#define PTC_CAPTURE_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

struct ptc_cpus {
	int *items; /* owned; ascending, without duplicates */
	size_t n, cap;
};

#define PTC_CPUS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Replaces the contents of @c. PTC_E_USAGE: @text is not a list of CPUs. */
int ptc_cpus_parse(struct ptc_cpus *c, const char *text, struct ptc_err *err);

/* Reads the online CPUs from ROOT/sys/devices/system/cpu/online. */
int ptc_cpus_online(struct ptc_cpus *c, const char *root, struct ptc_err *err);

/* Reads the CPUs of the machine, online or not, from ROOT/sys/devices/system/cpu/present. */
int ptc_cpus_present(struct ptc_cpus *c, const char *root, struct ptc_err *err);

/*
 * Parses @text; NULL means all online CPUs. All must be online: PTC_E_NOT_EXIST names a CPU that is
 * not.
 */
int ptc_cpus_choose(struct ptc_cpus *c, const char *text, const char *root, struct ptc_err *err);

bool ptc_cpus_have(const struct ptc_cpus *c, int cpu);
/* Does nothing if @cpu is in the list. */
int ptc_cpus_add(struct ptc_cpus *c, int cpu, struct ptc_err *err);
/* Writes "0-3,8", shortened if @size is too small. */
void ptc_cpus_text(const struct ptc_cpus *c, char *out, size_t size);

/* Accepts PTC_CPUS_INIT. */
void ptc_cpus_release(struct ptc_cpus *c);

#endif
