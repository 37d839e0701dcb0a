/* SPDX-License-Identifier: MIT */
/* Prepares for a bundle as the input of a command. */
#ifndef PTC_CLI_COMMON_BUNDLE_INPUT_H
#define PTC_CLI_COMMON_BUNDLE_INPUT_H

/*
 * Loads libarchive if @argv, a command with its words, may read a bundle: if a word or the default
 * input is a bundle or a pipe. The sandbox, which the command enters before it opens its input,
 * allows no new code. Words behind "--" are of another program. Failures show when the bundle is
 * opened.
 */
void ptc_prepare_for_bundles(int argc, char *const *argv);

#endif
