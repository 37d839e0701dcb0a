/* SPDX-License-Identifier: MIT */
/* Which commands of ptcap work on this machine, and what each costs. */
#ifndef PTC_CAPTURE_DOCTOR_COMMANDS_H
#define PTC_CAPTURE_DOCTOR_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/doctor/check.h"
#include "capture/doctor/costs.h"
#include "capture/doctor/facts.h"
#include "capture/doctor/target.h"

enum { PTC_COMMANDS_MAX = 16 };

/* What the commands depend on. */
struct ptc_abilities {
	bool pt;	/* own programs with Intel PT */
	bool pt_attach; /* running processes with Intel PT */
	bool pt_cpus;	/* whole CPUs */
	bool pt_kernel; /* the kernel's part, and its code */
	bool lbr;	/* branch stacks beside Intel PT */
	bool events;	/* events of running processes */
	bool emu;
	bool trace;  /* ptrace of commands: the step source */
	bool attach; /* ptrace of running processes */
};

/* @t: the process that the commands with -p are about; NULL: any process of this user. */
struct ptc_abilities ptc_abilities_of(const struct ptc_facts *f, const struct ptc_target *t,
				      bool emu);

/*
 * Fills @ret, of PTC_COMMANDS_MAX, and returns the number of commands. The name of a check is a
 * command line.
 */
size_t ptc_commands_judge(const struct ptc_abilities *a, const struct ptc_doctor_costs *costs,
			  struct ptc_check *ret);

#endif
