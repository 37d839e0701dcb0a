/* SPDX-License-Identifier: MIT */
/* CPUs that come and go while they are recorded. */
#ifndef PTC_CAPTURE_PERF_HOTPLUG_H
#define PTC_CAPTURE_PERF_HOTPLUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/perf/cpus.h"

/* Listens for the kernel's uevents. */
struct ptc_hotplug {
	int fd; /* -1: the kernel lets us hear none (another user namespace): nothing is known */
};

#define PTC_HOTPLUG_INIT                                                                           \
	{                                                                                          \
		-1                                                                                 \
	}

struct ptc_hotplug_seen {
	struct ptc_cpus came, gone; /* owned */
	bool missed;		    /* there were too many events to hear them all */
};

/* From now on. */
void ptc_hotplug_listen(struct ptc_hotplug *h);
void ptc_hotplug_release(struct ptc_hotplug *h);

/*
 * What has happened since, of the CPUs in @among (NULL: all): each once, however often. Release
 * both lists, whatever it returns.
 */
int ptc_hotplug_read(struct ptc_hotplug *h, const struct ptc_cpus *among,
		     struct ptc_hotplug_seen *ret, struct ptc_err *err);

struct ptc_hotplug_whose {	      /* all lent */
	const struct ptc_cpus *among; /* that are recorded; NULL: all */
	/* Whose events are still there when they come back, as those of a task are, and not of a
	 * CPU. */
	const struct ptc_cpus *kept;
	void (*note)(void *ctx, const char *text); /* NULL: nobody listens */
	void *note_ctx;
};

/* The same, told; *ret_missed CPUs came and have no events. */
int ptc_hotplug_tell(struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose,
		     uint64_t *ret_missed, struct ptc_err *err);

/* "online@/devices/system/cpu/cpu3", @len bytes with or without a NUL. False: it is of no CPU. */
bool ptc_hotplug_parse(const char *text, size_t len, int *ret_cpu, bool *ret_online);

#endif
