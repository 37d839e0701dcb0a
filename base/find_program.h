/* SPDX-License-Identifier: MIT */
/* Finds the file of a program as execvp(3) does. */
#ifndef PTC_BASE_FIND_PROGRAM_H
#define PTC_BASE_FIND_PROGRAM_H

#include "ptcap/error.h"

/*
 * Find the file that execvp(3) would run for @file. The caller frees *@ret. PTC_E_NO_COMMAND: there
 * is none. PTC_E_BAD_COMMAND: it may not be executed.
 */
int ptc_find_program(const char *file, char **ret, struct ptc_err *err);

/*
 * Set @err to say that @file cannot be run because of the errno @sys. Returns PTC_E_NO_COMMAND if
 * there is no such file, otherwise PTC_E_BAD_COMMAND.
 */
int ptc_program_error(const char *file, int sys, struct ptc_err *err);

#endif
