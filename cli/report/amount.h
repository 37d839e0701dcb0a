/* SPDX-License-Identifier: MIT */
/* Numbers for tables, in at most seven columns. */
#ifndef PTC_CLI_REPORT_AMOUNT_H
#define PTC_CLI_REPORT_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum { PTC_AMOUNT_ROOM = 24 };

/*
 * Write @n: up to 999999 as it is, above with M, G, T, P or E and four digits, cut off. @is_time:
 * ns, written with ns, us, ms or s.
 */
void ptc_amount(char ret[PTC_AMOUNT_ROOM], uint64_t n, bool is_time);

#endif
