/* SPDX-License-Identifier: MIT */
/* All checks of `ptcap doctor`. */
#ifndef PTC_CAPTURE_DOCTOR_DOCTOR_H
#define PTC_CAPTURE_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/doctor/check.h"
#include "capture/doctor/commands.h"
#include "capture/doctor/judge.h"
#include "capture/doctor/target.h"
#include "ptcap/error.h"

enum { PTC_CHECKS_MAX = 40 };

enum ptc_doctor_verdict {
	PTC_DOCTOR_NOTHING, /* no source works for this user */
	PTC_DOCTOR_SOFTWARE,
	PTC_DOCTOR_HARDWARE, /* this user may record own programs with Intel PT */
};

struct ptc_doctor {
	struct ptc_check checks[PTC_CHECKS_MAX];
	size_t n;
	struct ptc_check commands[PTC_COMMANDS_MAX];
	size_t ncommands;
	struct ptc_ring_sizes rings; /* the largest; zeros: none */
	struct ptc_costs costs;
	enum ptc_doctor_verdict verdict;
	struct ptc_target target; /* pid 0: none */
};

struct ptc_doctor_opts {
	pid_t pid;	    /* a process to check too; 0: none */
	bool quick;	    /* measure nothing */
	const char *folder; /* of the recordings: its disk is checked */
};

/*
 * Makes all checks of this machine and user. Takes about two seconds, or a fraction of one with
 * opts->quick. A check whose facts cannot be read has PTC_CHECK_UNKNOWN. PTC_E_NOT_EXIST: there is
 * no process opts->pid. Caller releases *@ret, also after a failure.
 */
int ptc_doctor_run(const struct ptc_doctor_opts *opts, struct ptc_doctor *ret, struct ptc_err *err);
void ptc_doctor_release(struct ptc_doctor *d);

#endif
