/* SPDX-License-Identifier: MIT */
/*
 * Parses the -e argument: "intel_pt/cyc,psb_period=3/u", the same form for any other PMU in sysfs,
 * or the name of a software event ("dummy:u").
 */
#ifndef PTC_CAPTURE_PERF_EVENT_H
#define PTC_CAPTURE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/perf/pmu.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

#define PTC_EVENT_DEFAULT "intel_pt//u"

/* Values of command-line options that change the initial terms of intel_pt. */
struct ptc_event_base {
	bool no_retcomp;
	uint32_t psb_period; /* bytes; 0: the PMU's default */
};

struct ptc_event {
	char name[128];	    /* the given text, or the value of the term name= */
	bool software;	    /* no PMU and no AUX area */
	bool intel_pt;	    /* the PMU is intel_pt: we know its packets */
	bool dummy;	    /* sideband records only */
	bool modified;	    /* u, k or h was given: do not fall back to :u silently */
	struct ptc_pmu pmu; /* unused for software events */
	/* type, config..., sample_period, exclude_*, precise_ip, pinned, exclusive */
	struct perf_event_attr attr;
};

/*
 * Parses @text; @root is a prefix for sysfs paths. intel_pt starts with the terms that every
 * recording needs, changed by @base: branches, TSC, and MTC if available. The MTC period is the one
 * nearest to 3, perf's default. Terms in @text override these and are checked against the PMU's
 * caps/. PTC_E_USAGE: @text is not an event, or a term or modifier is unknown. PTC_E_NOT_EXIST: the
 * machine has no such PMU. PTC_E_UNSUPPORTED: the PMU does not support a term.
 */
int ptc_event_parse(struct ptc_event *e, const char *text, const struct ptc_event_base *base,
		    const char *root, struct ptc_err *err);

/*
 * Same as ptc_event_parse, for a sampling event. It also accepts the CPU's cycles, instructions,
 * branches and so on, with perf's default frequency.
 */
int ptc_event_parse_counter(struct ptc_event *e, const char *text, const char *root,
			    struct ptc_err *err);

/* Returns true if @text names intel_pt; NULL is the default event. Does not read sysfs. */
bool ptc_event_wants_pt(const char *text);

#endif
