/* SPDX-License-Identifier: MIT */
/* Follows CPUs that go offline or come online during a recording. */
#ifndef PTC_CAPTURE_PERF_HOTPLUG_H
#define PTC_CAPTURE_PERF_HOTPLUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/perf/cpus.h"

/* A period in which a CPU with events was offline, in ns, from the uevents received. */
struct ptc_away {
	int cpu;
	uint64_t from_ns; /* 0: the offline event was not received */
	uint64_t to_ns;	  /* its events work again; 0: not yet */
	bool late;	  /* events had to be opened again: what ran before that is missing */
};

/* Receives the kernel's uevents. */
struct ptc_hotplug {
	int fd; /* -1: the kernel sends us none (another user namespace): hotplug is not detected */
	struct ptc_away *away; /* owned; in order of from_ns */
	size_t naway, away_cap;
	struct ptc_cpus came; /* owned; CPUs that came online and are not recorded, or not again */
	bool missed;	      /* uevents were lost because too many came at once */
	char why[192];	      /* why the last CPU of @came is not recorded; "" */
};

#define PTC_HOTPLUG_INIT                                                                           \
	{                                                                                          \
		-1, NULL, 0, 0, PTC_CPUS_INIT, false, ""                                           \
	}

struct ptc_hotplug_whose {	      /* all pointers are borrowed */
	const struct ptc_cpus *among; /* recorded CPUs; NULL: all */
	const struct ptc_cpus *mine;  /* CPUs with events */
	bool tasks;  /* these are events of tasks: they survive while the CPU is offline */
	bool places; /* places (opts->at) are watched, on the CPUs in @mine */
	/* Records @cpu again. NULL: impossible. */
	int (*again)(void *ctx, int cpu, struct ptc_err *err);
	uint64_t (*now_ns)(void *ctx);
	void *ctx;				   /* for again and now_ns */
	void (*note)(void *ctx, const char *text); /* NULL: no notes */
	void *note_ctx;
};

/* Starts listening. */
void ptc_hotplug_listen(struct ptc_hotplug *h);
void ptc_hotplug_release(struct ptc_hotplug *h);

/*
 * Handles all uevents since the last call, in order: a CPU that came back is recorded again if
 * possible.
 */
int ptc_hotplug_follow(struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose,
		       struct ptc_err *err);

/* Call at the end. Reports what happened since the start. */
void ptc_hotplug_tell(const struct ptc_hotplug *h, const struct ptc_hotplug_whose *whose);

/* Returns how many times events had to be opened again. */
size_t ptc_hotplug_late(const struct ptc_hotplug *h);

/*
 * Parses "online@/devices/system/cpu/cpu3", @len bytes with or without a NUL. Returns false if the
 * text is not about a CPU.
 */
bool ptc_hotplug_parse(const char *text, size_t len, int *ret_cpu, bool *ret_online);

#endif
