/* SPDX-License-Identifier: MIT */
/* Lists of CPUs, as sysfs and -C write them: "0-3,8". */
#ifndef PTC_CAPTURE_PERF_CPUS_H
#define PTC_CAPTURE_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

struct ptc_cpus {
	int *items; /* owned; ascending, each once */
	size_t n, cap;
};

#define PTC_CPUS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Replaces what @c held. PTC_E_USAGE: @text is no such list. */
int ptc_cpus_parse(struct ptc_cpus *c, const char *text, struct ptc_err *err);

/* Those that are online, by ROOT/sys/devices/system/cpu/online. */
int ptc_cpus_online(struct ptc_cpus *c, const char *root, struct ptc_err *err);

/* Those that are in the machine, online or not, by ROOT/sys/devices/system/cpu/present. */
int ptc_cpus_present(struct ptc_cpus *c, const char *root, struct ptc_err *err);

/*
 * Those of @text, NULL meaning all, which must be online: PTC_E_NOT_EXIST names
 * one that is not.
 */
int ptc_cpus_choose(struct ptc_cpus *c, const char *text, const char *root, struct ptc_err *err);

bool ptc_cpus_have(const struct ptc_cpus *c, int cpu);
/* Nothing happens if it is there. */
int ptc_cpus_add(struct ptc_cpus *c, int cpu, struct ptc_err *err);
/* "0-3,8", as much of it as fits. */
void ptc_cpus_text(const struct ptc_cpus *c, char *out, size_t size);

/* Accepts PTC_CPUS_INIT. */
void ptc_cpus_release(struct ptc_cpus *c);

#endif
