/* SPDX-License-Identifier: MIT */
/* What `ptcap crash show` prints of a crash that was explained. */
#ifndef PTC_CLI_CRASH_OUT_H
#define PTC_CLI_CRASH_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/crash.h"

enum { PTC_CRASH_SENTENCE = 512 };

/* Why it died, in words: not for a terminal as it is (names of a recording are in it). */
void ptc_crash_sentence(const struct ptc_crash_report *r, char ret[PTC_CRASH_SENTENCE]);

/* "SIGSEGV", or "signal 77". */
void ptc_crash_signal_name(uint64_t signo, char ret[16]);

void ptc_crash_text(const struct ptc_crash_report *r, bool color);
/* One JSON object. False: out of memory. */
bool ptc_crash_json(const struct ptc_crash_report *r);

#endif
