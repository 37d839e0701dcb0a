/* SPDX-License-Identifier: MIT */
/* Output of `ptcap crash show`. `ptcap crash core` uses the parser of --pid. */
#ifndef PTC_CLI_CRASH_CRASH_OUT_H
#define PTC_CLI_CRASH_CRASH_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/crash/crash.h"

/* Parses a process ID into the uint64_t *@ret. Returns false if @s is none. */
bool ptc_take_crash_pid(const char *s, void *ret);

enum { PTC_CRASH_SENTENCE = 512 };

/*
 * Write the cause in one sentence. Not escaped for a terminal, and may contain names from a
 * recording.
 */
void ptc_crash_sentence(const struct ptc_crash_report *r, char ret[PTC_CRASH_SENTENCE]);

/* "SIGSEGV", or "signal 77". */
void ptc_crash_signal_name(uint64_t signo, char ret[16]);

void ptc_crash_text(const struct ptc_crash_report *r, bool color);
/* Print one JSON object. Returns false if out of memory. */
bool ptc_crash_json(const struct ptc_crash_report *r);

#endif
