/* SPDX-License-Identifier: MIT */
/* --max-memory SIZE, an option of all commands that read a recording. */
#ifndef PTC_CLI_MAX_MEMORY_H
#define PTC_CLI_MAX_MEMORY_H

/* Value that getopt_long returns for the option, and its lines in the help. */
enum { PTC_OPT_MAX_MEMORY = 4096 };
#define PTC_HELP_MAX_MEMORY                                                                        \
	"      --max-memory=SIZE memory that may be used (default: a quarter of the machine's, "   \
	"at\n"                                                                                     \
	"                        most 4G); what needs more is left out, and a message says so\n"

/* Set the limit. Returns 0, or the exit code after a message. */
int ptc_max_memory(const char *command, const char *size);

#endif
