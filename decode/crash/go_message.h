/* SPDX-License-Identifier: MIT */
/* Reads the panic of a Go program, as Go prints it (printpanicval() of runtime/error.go). */
#ifndef PTC_DECODE_CRASH_GO_MESSAGE_H
#define PTC_DECODE_CRASH_GO_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_crash_message;
struct ptc_crash_report;
struct ptc_go_panic;
struct ptc_runtime_message;

/*
 * Read the panic @at of @r. Returns false if the process did not end because of a panic, or if the
 * program has no debug information.
 */
bool ptc_go_message_read(const struct ptc_crash_report *r, const struct ptc_crash_message *at,
			 struct ptc_runtime_message *ret);

/*
 * Print the value of @p as Go does. @type: the name of its type. Returns false if the text did not
 * fit.
 */
bool ptc_go_message_text(const struct ptc_go_panic *p, const char *type, char *ret, size_t size);

#endif
