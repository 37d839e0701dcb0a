/* SPDX-License-Identifier: MIT */
/* Texts of a recording as JSON. */
#ifndef PTC_CLI_JSONTEXT_H
#define PTC_CLI_JSONTEXT_H

#include <jansson.h>

/* Bytes that are not UTF-8 become '?': JSON cannot carry them. NULL: out of memory. */
json_t *ptc_json_text(const char *s);

#endif
