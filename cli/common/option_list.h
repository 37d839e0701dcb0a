/* SPDX-License-Identifier: MIT */
/* Prints option tables for the completion scripts of shells (completion/). */
#ifndef PTC_CLI_COMMON_OPTION_LIST_H
#define PTC_CLI_COMMON_OPTION_LIST_H

#include <stddef.h>

#include "cli/common/option_table.h"

/* `ptcap help --list-options` gives each command this argument in place of --help. */
#define PTC_LIST_OPTIONS "--list-options"

/*
 * Prints a line for the command, then one for each option. Tabs separate the columns: command,
 * short option, long option, value, words, first sentence. Missing columns are empty. The value of
 * an option is as in --help, such as "FILE" or "[LEVEL]". The value of a command is CMD if it runs
 * a command, else FILE: a recording. The words are the values that ptc_option.expected lists, with
 * blanks between.
 */
void ptc_options_list(const struct ptc_option_table *t);

/*
 * Copies the words of @expected to @ret, @size bytes, with blanks between: "text or json" has two
 * words. Text after a comma behind the last word is left out. Sets "" if @expected is NULL or not a
 * list of words.
 */
void ptc_option_words(const char *expected, char *ret, size_t size);

#endif
