/* SPDX-License-Identifier: MIT */
/* Printing values from a recording as text on stdout. */
#ifndef PTC_CLI_COMMON_TEXT_ESCAPE_H
#define PTC_CLI_COMMON_TEXT_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Print "text" in quotes, with \" and \\, and \xNN as in plain.h. */
void ptc_show_text(const char *s);
/* As ptc_show_text, without quotes. */
void ptc_show_plain(const char *s);
/* Quote only if empty, or if there are characters other than letters, digits and -_./:=,+@%. */
void ptc_show_word(const char *s);

/* Print seconds with nine decimals. */
void ptc_show_time(uint64_t ns);

/* PERF_SAMPLE_*: "IP|TID|0x100000000". */
void ptc_show_sample_type(uint64_t type);

/* PERF_AUX_FLAG_*: "0x1 TRUNCATED". */
void ptc_show_aux_flags(uint64_t flags);

#endif
