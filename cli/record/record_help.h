/* SPDX-License-Identifier: MIT */
/* The text of `ptcap record --help`. */
#ifndef PTC_CLI_RECORD_RECORD_HELP_H
#define PTC_CLI_RECORD_RECORD_HELP_H

/* Prints the text on standard output. */
void ptc_record_help(void);

#endif
