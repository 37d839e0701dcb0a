/* SPDX-License-Identifier: MIT */
/* --max-memory SIZE, an option of all commands that read a recording. */
#ifndef PTC_CLI_COMMON_MAX_MEMORY_H
#define PTC_CLI_COMMON_MAX_MEMORY_H

/* Value that getopt_long returns for the option, and its lines in the help. */
enum { PTC_OPT_MAX_MEMORY = 4096 };
#define PTC_HELP_MAX_MEMORY                                                                        \
	"      --max-memory=SIZE Use at most this much memory (default: a quarter of the\n"        \
	"                        machine's, at most 4G). Names and source lines that\n"            \
	"                        need more are omitted, with a message.\n"
/* The same for commands that can omit nothing. */
#define PTC_HELP_MAX_MEMORY_WHOLE                                                                  \
	"      --max-memory=SIZE Use at most this much memory (default: a quarter of the\n"        \
	"                        machine's, at most 4G). If the recording needs more,\n"           \
	"                        the command fails.\n"

/* Set the limit. Returns 0, or the exit code after a message. */
int ptc_max_memory(const char *command, const char *size);

#endif
