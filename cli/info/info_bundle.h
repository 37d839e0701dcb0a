/* SPDX-License-Identifier: MIT */
/* Tells which files are beside a recording in its bundle. */
#ifndef PTC_CLI_INFO_INFO_BUNDLE_H
#define PTC_CLI_INFO_INFO_BUNDLE_H

#include <jansson.h>

struct ptc_file;

/* Print the line of the bundle that @f was read from, behind a label of 9 columns. Nothing for a
 * recording outside a bundle. */
void ptc_info_bundle_text(const struct ptc_file *f);

/*
 * Returns the JSON of the bundle (doc/json.md), owned by the caller; null for a recording outside a
 * bundle; NULL: out of memory.
 */
json_t *ptc_info_bundle_json(const struct ptc_file *f);

#endif
