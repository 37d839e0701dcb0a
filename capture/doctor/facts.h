/* SPDX-License-Identifier: MIT */
/*
 * Facts about the machine and this process, as `ptcap doctor` reads them. The judges (judge_*.c)
 * see only this structure, so tests give them any machine.
 */
#ifndef PTC_CAPTURE_DOCTOR_FACTS_H
#define PTC_CAPTURE_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/host/processor.h"
#include "capture/perf/open_error_text.h"
#include "capture/perf/pmu.h"

/* Headers before Linux 5.8 lack this name. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* A number in /proc or /sys that cannot be read. */
#define PTC_FACT_NONE (-1000L)

/* A trial that was not made. */
enum { PTC_TRIAL_NONE = -1 };

/* Results of trials: 0, or the errno of the refused call. */
struct ptc_trials {
	int event;	    /* perf_event_open of dummy:u for this process */
	int kernel_part;    /* the same, with the kernel's part */
	int cpu;	    /* the same, for a whole CPU */
	int pt;		    /* an intel_pt event for this process, in user mode */
	int branches;	    /* cycles:u with branch stacks */
	int branches_by_pt; /* the same, while an intel_pt event is open */
	int trace;	    /* ptrace of a child */
	int kcore;	    /* opening /proc/kcore */
	int rings;	    /* mapping the largest rings; PTC_TRIAL_NONE: not tried */
	/* bytes of struct perf_event_attr that the kernel knows; 0: not known */
	uint32_t attr_size;
	char lacks[256]; /* records that this kernel does not make; valid if event is 0; "": none */
};

struct ptc_facts {
	struct ptc_processor cpu;
	char release[65];    /* of the kernel */
	char container[160]; /* the kind of container and the sign of it; "": none found */
	char lockdown[16];   /* "none", "integrity", "confidentiality"; "": not known */
	uint32_t uid;	     /* effective */
	uint64_t caps;	     /* effective, 1 << CAP_*; valid in our user namespace */
	bool own_userns;     /* a user namespace of its own: caps count for nothing outside */
	long yama;	     /* kernel.yama.ptrace_scope */
	long seccomp;	     /* 0: off, 1: strict, 2: filters */
	long filters;	     /* number of seccomp filters */
	bool has_pmu;	     /* the kernel has the PMU intel_pt: pmu is valid */
	struct ptc_pmu pmu;
	bool has_counters; /* the kernel has the PMU of the processor's counters */
	long lbr_entries;  /* as that PMU says */
	struct ptc_limits limits;
	uint64_t available; /* bytes of memory that are free or can become free; 0: not known */
	struct ptc_trials tried;
};

/* Reads all facts except tried. @root is a prefix for paths: "", except in tests. */
void ptc_facts_read(struct ptc_facts *f, const char *root);

/* Fills f->tried on this machine. Opens events and a child process for a moment. */
void ptc_facts_try(struct ptc_facts *f);

/*
 * Finds the number behind "@name:" at the begin of a line of @text, such as a line of
 * /proc/self/status. Returns false if there is none.
 */
bool ptc_fact_number(const char *text, const char *name, int base, uint64_t *ret);

/* Has this process the capability for the kernel itself? */
bool ptc_facts_have(const struct ptc_facts *f, int cap);

/*
 * Has this process CAP_SYS_PTRACE for the processes of its own user namespace? Yama asks for the
 * capability in the user namespace of the traced process (security/yama/yama_lsm.c).
 */
bool ptc_facts_may_ptrace(const struct ptc_facts *f);

#endif
