/* SPDX-License-Identifier: MIT */
/*
 * Option tables. The table of a command drives the parsing (with getopt_long) and --help, and so
 * the check of the man pages (doc/adr/0027).
 */
#ifndef PTC_CLI_COMMON_OPTION_TABLE_H
#define PTC_CLI_COMMON_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * One option, or a heading of --help. The members behind help say what the option does with its
 * value: at most one of PTC_FLAG, PTC_TEXT, PTC_PARSED, .take and .prints_help is given. An option
 * with none of them is only shown: another entry handles it.
 */
struct ptc_option {
	const char *name; /* long name; NULL: help is a heading */
	int letter;	  /* short name; 0: none */
	const char *arg;  /* name of the value; "[NAME]": may be omitted; NULL: no value */
	const char *help; /* full sentences; '\n' begins a new line */

	enum ptc_option_does { PTC_SHOWN, PTC_SETS_FLAG, PTC_SETS_TEXT, PTC_PARSES } does;
	bool prints_help;
	size_t dest; /* offset of the member to set */
	/* Parses a value into the member. Returns false if @s is invalid: expected is printed. */
	bool (*parse)(const char *s, void *ret);
	const char *expected; /* shell completion proposes the words of "WORD, WORD or WORD" */
	/*
	 * Handles an option that sets several members, or has a message of its own. @value: NULL if
	 * it was omitted. Returns -1 to continue, or an exit code after a message.
	 */
	int (*take)(void *args, const char *value);
};

/* Sets the bool @member of the struct @type. */
#define PTC_FLAG(type, member)                                                                     \
	.does = PTC_SETS_FLAG,                                                                     \
	.dest = offsetof(type, member) + _Generic(((type *)0)->member, bool : 0)
/* Sets the const char pointer @member to the value. */
#define PTC_TEXT(type, member)                                                                     \
	.does = PTC_SETS_TEXT,                                                                     \
	.dest = offsetof(type, member) + _Generic(((type *)0)->member, const char * : 0)
/* Sets @member with the function @fn. @what: what a message expects as the value. */
#define PTC_PARSED(type, member, fn, what)                                                         \
	.does = PTC_PARSES, .dest = offsetof(type, member), .parse = (fn), .expected = (what)

#define PTC_HEADING(text)                                                                          \
	{                                                                                          \
		.help = (text)                                                                     \
	}
#define PTC_OPTIONS_END                                                                            \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* Options of several commands. */
#define PTC_OPTION_INPUT(type, member)                                                             \
	{                                                                                          \
		"input", 'i', "FILE",                                                              \
			"Read FILE (default: perf.data), the same as the argument FILE. "          \
			"-: read standard input.",                                                 \
			PTC_TEXT(type, member)                                                     \
	}
#define PTC_OPTION_FORMAT(type, member, text)                                                      \
	{                                                                                          \
		"format", 0, "FORMAT", (text),                                                     \
			PTC_PARSED(type, member, ptc_take_json, "text or json")                    \
	}
#define PTC_OPTION_MAX_MEMORY                                                                      \
	{                                                                                          \
		"max-memory", 0, "SIZE",                                                           \
			"Use at most this much memory (default: a quarter of the machine's, at "   \
			"most 4G). Names and source lines that need more are omitted, with a "     \
			"message.",                                                                \
			.does = PTC_PARSES, .parse = ptc_take_max_memory,                          \
			.expected = "a size: a number with K, M or G"                              \
	}
/* The same for commands that can omit nothing. */
#define PTC_OPTION_MAX_MEMORY_WHOLE                                                                \
	{                                                                                          \
		"max-memory", 0, "SIZE",                                                           \
			"Use at most this much memory (default: a quarter of the machine's, at "   \
			"most 4G). If the recording needs more, the command fails.",               \
			.does = PTC_PARSES, .parse = ptc_take_max_memory,                          \
			.expected = "a size: a number with K, M or G"                              \
	}
#define PTC_OPTION_NO_SANDBOX(type, member)                                                        \
	{                                                                                          \
		"no-sandbox", 0, NULL,                                                             \
			"Read the recording without seccomp and Landlock, which protect against "  \
			"hostile recordings (SECURITY.md).",                                       \
			PTC_FLAG(type, member)                                                     \
	}
#define PTC_OPTION_ALL_RIGHTS(type, member)                                                        \
	{                                                                                          \
		"no-sandbox", 0, NULL,                                                             \
			"Keep all capabilities. Default: drop the capabilities that a recording "  \
			"does not need (SECURITY.md).",                                            \
			PTC_FLAG(type, member)                                                     \
	}
#define PTC_OPTION_HELP                                                                            \
	{                                                                                          \
		"help", 'h', NULL, "Print this text.", .prints_help = true                         \
	}

struct ptc_option_table {
	const char *command;		  /* as the user types it: "crash show" */
	const char *usage;		  /* begin of --help, with a newline at its end */
	const struct ptc_option *options; /* PTC_OPTIONS_END is last */
	const char *notes;		  /* end of --help, or NULL */
	bool runs_command; /* the first argument that is no option is a command to run */
};

/*
 * Parses the options in @argv into the struct at @args. Returns -1 to continue, with optind set, or
 * an exit code: 0 behind --help and --list-options (option_list.h), PTC_EXIT_USAGE behind a
 * message.
 */
int ptc_options_parse(const struct ptc_option_table *t, int argc, char **argv, void *args);

/* Returns false for a heading, and for an option that is only shown. */
bool ptc_option_is_handled(const struct ptc_option *o);

/* Parsers for PTC_PARSED. */
bool ptc_take_json(const char *s, void *ret);	     /* text or json; bool */
bool ptc_take_count(const char *s, void *ret);	     /* a count that is not 0; uint64_t */
bool ptc_take_duration(const char *s, void *ret);    /* uint64_t, in ns */
bool ptc_take_max_memory(const char *s, void *none); /* sets the limit of this process */

#endif
