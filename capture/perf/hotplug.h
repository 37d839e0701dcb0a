/* SPDX-License-Identifier: MIT */
/* CPUs that come and go while they are recorded. */
#ifndef PTC_CAPTURE_PERF_HOTPLUG_H
#define PTC_CAPTURE_PERF_HOTPLUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/perf/cpus.h"

/* A time that a CPU with events was away, in ns, as we heard of it. */
struct ptc_away {
	int cpu;
	uint64_t from_ns; /* 0: it was not heard */
	uint64_t to_ns;	  /* its events are there again; 0: they are not */
	bool late;	  /* they had to be made again: what ran before that is missing */
};

/* Listens for the kernel's uevents. */
struct ptc_hotplug {
	int fd; /* -1: the kernel lets us hear none (another user namespace): nothing is known */
	struct ptc_away *away; /* owned; in order of from_ns */
	size_t naway, away_cap;
	struct ptc_cpus came; /* owned; that came and are not recorded, or not again */
	bool missed;	      /* there were too many events to hear them all */
	char why[192];	      /* the last of came is not; "" */
};

#define PTC_HOTPLUG_INIT                                                                           \
	{                                                                                          \
		-1, NULL, 0, 0, PTC_CPUS_INIT, false, ""                                           \
	}

struct ptc_hotplug_whose {	      /* all lent */
	const struct ptc_cpus *among; /* that are recorded; NULL: all */
	const struct ptc_cpus *mine;  /* that there are events of */
	bool tasks;  /* and of tasks: they are still there when such a CPU comes back */
	bool places; /* are watched (opts->at), on those that there are events of */
	/* Record @cpu again. NULL: that cannot be. */
	int (*again)(void *ctx, int cpu, struct ptc_err *err);
	uint64_t (*now_ns)(void *ctx);
	void *ctx;				   /* of both */
	void (*note)(void *ctx, const char *text); /* NULL: nobody listens */
	void *note_ctx;
};

/* From now on. */
void ptc_hotplug_listen(struct ptc_hotplug *h);
void ptc_hotplug_release(struct ptc_hotplug *h);

/* What has happened since, in its order: what came back is recorded again, if that is possible. */
int ptc_hotplug_follow(struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose,
		       struct ptc_err *err);

/* In the end: what happened since the beginning. */
void ptc_hotplug_tell(const struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose);

/* How many times events had to be made again. */
size_t ptc_hotplug_late(const struct ptc_hotplug *h);

/* "online@/devices/system/cpu/cpu3", @len bytes with or without a NUL. False: it is of no CPU. */
bool ptc_hotplug_parse(const char *text, size_t len, int *ret_cpu, bool *ret_online);

#endif
