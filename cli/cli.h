/* SPDX-License-Identifier: MIT */
/* What the sub-commands share. Only cli/ prints and exits. */
#ifndef PTC_CLI_CLI_H
#define PTC_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "exitcodes.h"
#include "ptcap/error.h"

struct option;

/* Each command gets argv with argv[0] its own name, and returns the exit code. */
int ptc_cmd_record(int argc, char **argv);
int ptc_cmd_snapshot(int argc, char **argv);
int ptc_cmd_decode(int argc, char **argv);
int ptc_cmd_info(int argc, char **argv);
int ptc_cmd_dump(int argc, char **argv);
int ptc_cmd_convert(int argc, char **argv);
int ptc_cmd_recover(int argc, char **argv);
int ptc_cmd_compare(int argc, char **argv);
int ptc_cmd_crash(int argc, char **argv);
int ptc_cmd_crash_show(int argc, char **argv);

/* "ptcap: MESSAGE" on stderr. */
void ptc_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The error, once, on stderr; returns PTC_EXIT_FAIL, or PTC_EXIT_USAGE for PTC_E_USAGE. */
int ptc_say_err(const struct ptc_err *err);
/* Out of memory, as an error; returns PTC_EXIT_FAIL. */
int ptc_say_no_memory(void);
/*
 * The same of the recording @path (NULL: it is none), and what may be done if it is cut, or its
 * writer was killed. PTC_EXIT_NOTHING: it lacks what is asked for.
 */
int ptc_say_input_err(const char *path, const struct ptc_err *err);
/*
 * Standard input becomes a copy of what it has, so that @path, if that is "-", can be read more
 * than once. False: that failed, and was said.
 */
bool ptc_keep_input(const char *path);
/* "ptcap COMMAND: MESSAGE" and where to find help; returns PTC_EXIT_USAGE. */
int ptc_usage_error(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * "invalid value 'VALUE' for OPTION: expected WHAT", with WHAT from @fmt. The one text for a value
 * that @option does not take. Returns PTC_EXIT_USAGE.
 */
int ptc_value_error(const char *command, const char *option, const char *value, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/*
 * Prepares getopt_long: it prints nothing itself, and ptc_option_error knows @options, which must
 * live as long as the parsing.
 */
void ptc_options_begin(const struct option *options);

/*
 * What getopt_long, with ":" in front of the letters, could not take: @c is its ':' or '?'. Names
 * the option, and similar ones. Returns PTC_EXIT_USAGE.
 */
int ptc_option_error(const char *command, char *const *argv, int c);

/* The error for the first of @args that a command does not take. Returns PTC_EXIT_USAGE. */
int ptc_argument_error(const char *command, char *const *args);

#define PTC_INPUT_DEFAULT "perf.data"

/*
 * Behind the options a command may have the name of its input file, as a shorter form of -i.
 * @input is the value of -i, or NULL. Sets *input to the argument, if there is one. Returns 0, or
 * PTC_EXIT_USAGE after a message: there is more than one input file.
 */
int ptc_take_input(const char *command, int argc, char *const *argv, const char **input);

/*
 * Numbers on the command line: 0x hex, else decimal; the whole of @s. With
 * sizes a suffix K, M, G (binary) is taken. False if it is no such number.
 */
bool ptc_parse_u64(const char *s, uint64_t *ret);
bool ptc_parse_size(const char *s, uint64_t *ret);
/* A count, with a decimal suffix k, M, G. */
bool ptc_parse_count(const char *s, uint64_t *ret);
/* A duration: seconds, which may have a fraction, or with a suffix us, ms, s, m, h. In ns, not 0.
 */
bool ptc_parse_duration(const char *s, uint64_t *ret_ns);

/* Flush stdout; a report that could not be written whole must not exit 0. */
int ptc_finish_stdout(int code);

#endif
