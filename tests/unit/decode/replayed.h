/* SPDX-License-Identifier: MIT */
/* Trace that is replayed over pt_code, and compared with the lines it must give. */
#ifndef PTC_TESTS_REPLAYED_H
#define PTC_TESTS_REPLAYED_H

#include "lib_pt.h"

/* Replays @b, which is released, and compares the text of pt_replay with @lines. */
void replay_expect(struct ptc_buf *b, struct pt_how how, const char *lines);

#endif
