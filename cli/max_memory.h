/* SPDX-License-Identifier: MIT */
/* --max-memory SIZE, which all commands have that read a recording. */
#ifndef PTC_CLI_MAX_MEMORY_H
#define PTC_CLI_MAX_MEMORY_H

/* What their getopt_long returns for it, and its lines in their help. */
enum { PTC_OPT_MAX_MEMORY = 4096 };
#define PTC_HELP_MAX_MEMORY                                                                        \
	"      --max-memory=SIZE Use at most this much memory (default: a quarter of the\n"        \
	"                        machine's, at most 4G). Names and source lines that\n"            \
	"                        need more are omitted, with a message.\n"

/* Takes its value. Returns 0, or the exit code after a message. */
int ptc_max_memory(const char *command, const char *size);

#endif
