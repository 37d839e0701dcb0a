/* SPDX-License-Identifier: MIT */
/*
 * What -e says: "intel_pt/cyc,psb_period=3/u", any other PMU of sysfs in that
 * form, or a software event of the kernel by its name ("dummy:u").
 */
#ifndef PTC_CAPTURE_PERF_EVENT_H
#define PTC_CAPTURE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/perf/pmu.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

#define PTC_EVENT_DEFAULT "intel_pt//u"

/* How the options of intel_pt that have names of their own change what an event begins with. */
struct ptc_event_base {
	bool no_retcomp;
	uint32_t psb_period; /* bytes; 0: the PMU's default */
};

struct ptc_event {
	char name[128];	    /* as it was given, or as its term name= says */
	bool software;	    /* there is no PMU, and no AUX area */
	bool intel_pt;	    /* the PMU is one whose packets we know */
	bool dummy;	    /* nothing but side records */
	bool modified;	    /* u, k or h was given: no quiet fallback to :u */
	struct ptc_pmu pmu; /* not of a software event */
	/* type, config..., sample_period, exclude_*, precise_ip, pinned, exclusive */
	struct perf_event_attr attr;
};

/*
 * @text as an event; @root is that of sysfs. An intel_pt begins with what every
 * recording wants (branches, TSC, MTC if the PMU has it at the period nearest to
 * perf's, 3), as @base changes it; its terms come on top, and are held against the
 * PMU's caps/. PTC_E_USAGE: not an event, or a term or modifier that is none;
 * PTC_E_NOT_EXIST: the machine has no such PMU; PTC_E_UNSUPPORTED: it cannot do that.
 */
int ptc_event_parse(struct ptc_event *e, const char *text, const struct ptc_event_base *base,
		    const char *root, struct ptc_err *err);

/*
 * The same of one that samples: cycles, instructions, branches, ... of the CPU, too, as often as
 * perf asks for them.
 */
int ptc_event_parse_counter(struct ptc_event *e, const char *text, const char *root,
			    struct ptc_err *err);

/* Is @text one of intel_pt, NULL being the default? Without looking at the machine. */
bool ptc_event_wants_pt(const char *text);

#endif
