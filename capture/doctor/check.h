/* SPDX-License-Identifier: MIT */
/* One check of `ptcap doctor`: a finding, and the command that mends the machine. */
#ifndef PTC_CAPTURE_DOCTOR_CHECK_H
#define PTC_CAPTURE_DOCTOR_CHECK_H

#include "ptcap/doctor.h"

enum { PTC_CHECK_VALUE = 512, PTC_CHECK_MEND = 384 };

struct ptc_check {
	const char *name; /* static */
	enum ptc_check_state state;
	char value[PTC_CHECK_VALUE]; /* untrusted names are escaped when they are printed */
	char mend[PTC_CHECK_MEND];   /* a command or an action; "": none */
};

/* Sets the state and the value. */
void ptc_check_set(struct ptc_check *c, enum ptc_check_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends to the value. Text that does not fit is cut off. */
void ptc_check_add(struct ptc_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the command that mends it. */
void ptc_check_mend(struct ptc_check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
