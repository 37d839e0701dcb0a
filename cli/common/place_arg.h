/* SPDX-License-Identifier: MIT */
/* Code locations of the command line. */
#ifndef PTC_CLI_COMMON_PLACE_ARG_H
#define PTC_CLI_COMMON_PLACE_ARG_H

#include "ptcap/capture.h"

/*
 * @text: SYMBOL or 0xADDRESS, optional +OFFSET, optional @FILE. Without FILE a symbol is one of
 * @program, and an address is one of the running process. Caller frees ret->file, which may be
 * NULL.
 */
int ptc_place_parse(const char *text, const char *program, struct ptc_place *ret,
		    struct ptc_err *err);

/* Get the file that a command (@argv) or process @pid executes. Caller frees *@ret. */
int ptc_place_program(char *const *argv, pid_t pid, char **ret, struct ptc_err *err);

#endif
