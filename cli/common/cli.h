/* SPDX-License-Identifier: MIT */
/* Functions shared by the sub-commands. Only code in cli/ prints and exits. */
#ifndef PTC_CLI_COMMON_CLI_H
#define PTC_CLI_COMMON_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/exitcodes.h"
#include "ptcap/error.h"

/* Each command gets its own name in argv[0], and returns the exit code. */
int ptc_cmd_record(int argc, char **argv);
int ptc_cmd_snapshot(int argc, char **argv);
int ptc_cmd_decode(int argc, char **argv);
int ptc_cmd_report(int argc, char **argv);
int ptc_cmd_info(int argc, char **argv);
int ptc_cmd_dump(int argc, char **argv);
int ptc_cmd_convert(int argc, char **argv);
int ptc_cmd_recover(int argc, char **argv);
int ptc_cmd_archive(int argc, char **argv);
int ptc_cmd_compare(int argc, char **argv);
int ptc_cmd_crash(int argc, char **argv);
int ptc_cmd_crash_show(int argc, char **argv);
int ptc_cmd_crash_core(int argc, char **argv);
int ptc_cmd_stacks(int argc, char **argv);
int ptc_cmd_view(int argc, char **argv);
int ptc_cmd_doctor(int argc, char **argv);
int ptc_cmd_sum(int argc, char **argv);

/* Print "ptcap: MESSAGE" to stderr. */
void ptc_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print the error to stderr. Returns PTC_EXIT_FAIL, or PTC_EXIT_USAGE for PTC_E_USAGE. */
int ptc_say_err(const struct ptc_err *err);
/* Report that memory is exhausted. Returns PTC_EXIT_FAIL. */
int ptc_say_no_memory(void);
/*
 * As ptc_say_err, for an error of the recording @path (or NULL). Adds advice if the recording is
 * truncated or its writer was killed. Returns PTC_EXIT_NOTHING if the recording lacks the requested
 * data.
 */
int ptc_say_input_err(const char *path, const struct ptc_err *err);
/* Print "ptcap COMMAND: MESSAGE" and a hint at the help. Returns PTC_EXIT_USAGE. */
int ptc_usage_error(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Report a value that @option does not take: "invalid value 'VALUE' for OPTION: expected WHAT",
 * with WHAT from @fmt. Returns PTC_EXIT_USAGE.
 */
int ptc_value_error(const char *command, const char *option, const char *value, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/* Report the first of @args, which the command does not take. Returns PTC_EXIT_USAGE. */
int ptc_argument_error(const char *command, char *const *args);

#define PTC_INPUT_DEFAULT "perf.data"

/*
 * Take the argument after the options as the input file: FILE is short for -i FILE. *input is the
 * value of -i, or NULL. Returns 0, or reports a second input file and returns PTC_EXIT_USAGE.
 */
int ptc_take_input(const char *command, int argc, char *const *argv, const char **input);

/*
 * Parse numbers of the command line: hex with 0x, otherwise decimal; all of @s. ptc_parse_size also
 * accepts a binary suffix K, M, G. Return false if malformed.
 */
bool ptc_parse_u64(const char *s, uint64_t *ret);
bool ptc_parse_size(const char *s, uint64_t *ret);
/*
 * Cut off and parse the number in front of @sep, or of the end. *@s moves behind it; NULL: the end.
 */
bool ptc_cut_number(char **s, char sep, uint64_t *ret);
/* Parse a count, with an optional decimal suffix k, M, G. */
bool ptc_parse_count(const char *s, uint64_t *ret);
/*
 * Parse a duration: seconds with an optional fraction, or a number with suffix us, ms, s, m, h. The
 * result is in ns and never 0.
 */
bool ptc_parse_duration(const char *s, uint64_t *ret_ns);

/* Flush stdout. Returns @code, but not 0 if the output is incomplete. */
int ptc_finish_stdout(int code);

#endif
