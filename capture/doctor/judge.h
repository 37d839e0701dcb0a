/* SPDX-License-Identifier: MIT */
/*
 * Judges: each fills a check from facts. No judge makes a system call that depends on the machine.
 */
#ifndef PTC_CAPTURE_DOCTOR_JUDGE_H
#define PTC_CAPTURE_DOCTOR_JUDGE_H

#include "capture/doctor/check.h"
#include "capture/doctor/facts.h"

typedef void (*ptc_judge)(const struct ptc_facts *f, struct ptc_check *c);

/* The machine and its kernel: judge_machine.c. */
void ptc_judge_processor(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_virtual(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_container(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_kernel(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_lockdown(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_seccomp(const struct ptc_facts *f, struct ptc_check *c);

/* Intel PT and LBR: judge_pt.c. */
void ptc_judge_pt(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_pt_caps(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_pt_event(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_lbr(const struct ptc_facts *f, struct ptc_check *c);

/* The rights of this user: judge_rights.c. */
void ptc_judge_events(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_paranoid(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_capabilities(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_yama(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_ptrace(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_kernel_code(const struct ptc_facts *f, struct ptc_check *c);

/*
 * Sets the remedy for the missing capabilities @caps, for example "CAP_PERFMON". Root gets no
 * advice to be root.
 */
void ptc_judge_mend_caps(const struct ptc_facts *f, const char *caps, struct ptc_check *c);

/* Limits: judge_limits.c. */
void ptc_judge_rings(const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_descriptors(const struct ptc_facts *f, struct ptc_check *c);

/*
 * Computes the largest rings, for each of @rings ring pairs. @free: bytes that a user without limit
 * may use. A ring is a power of two. The data ring has at least a sixteenth of the AUX ring. Zeros:
 * not even the smallest rings are allowed. @ret_limited: the limits of the user apply, and not
 * @free.
 */
struct ptc_ring_sizes ptc_ring_sizes_largest(const struct ptc_facts *f, uint64_t rings,
					     bool *ret_limited);

/* What an attached thread needs on each CPU: an event for the trace, and one for sideband records.
 */
enum { PTC_EVENTS_EACH = 2 };

#endif
