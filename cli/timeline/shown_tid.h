/* SPDX-License-Identifier: MIT */
#ifndef PTC_CLI_TIMELINE_SHOWN_TID_H
#define PTC_CLI_TIMELINE_SHOWN_TID_H

#include <stdint.h>

/* The first number behind those of Linux (2^22) that is easy to recognise. */
enum { PTC_UNKNOWN_TID = 10000000 };

/*
 * Returns the number of a thread or process for tools that have no number 0 and no thread that is
 * not known (-1).
 */
static inline int32_t ptc_shown_tid(int32_t tid)
{
	return tid > 0 ? tid : PTC_UNKNOWN_TID - tid;
}

#endif
