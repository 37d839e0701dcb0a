/* SPDX-License-Identifier: MIT */
/* Places in a program's code, as the user names them. */
#ifndef PTC_CLI_PLACE_H
#define PTC_CLI_PLACE_H

#include "ptcap/capture.h"

/*
 * @text: SYMBOL or 0xADDRESS, then maybe +OFFSET, then maybe @FILE. Without FILE a
 * symbol is one of @program, and an address is one of the running process.
 * ret->file is malloc'ed, or NULL.
 */
int ptc_place_parse(const char *text, const char *program, struct ptc_place *ret,
		    struct ptc_err *err);

/* The file a command runs (@argv), or process @pid: malloc'ed. */
int ptc_place_program(char *const *argv, pid_t pid, char **ret, struct ptc_err *err);

#endif
