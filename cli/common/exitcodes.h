/* SPDX-License-Identifier: MIT */
/* Exit codes are a stable interface, listed in doc/format.md. */
#ifndef PTC_CLI_COMMON_EXITCODES_H
#define PTC_CLI_COMMON_EXITCODES_H

enum {
	PTC_EXIT_OK = 0,
	PTC_EXIT_FAIL = 1,
	PTC_EXIT_USAGE = 2,
	PTC_EXIT_FINDINGS = 3, /* done, with findings: losses with --strict, --verify, compare */
	PTC_EXIT_NOTHING = 4,  /* nothing, or too little, to judge */
	/* `record -- CMD` returns CMD's status, 128 + n for signal n, or: */
	PTC_EXIT_PTCAP = 125, /* ptcap itself failed */
	PTC_EXIT_CANNOT_RUN = 126,
	PTC_EXIT_NOT_FOUND = 127,
};

#endif
