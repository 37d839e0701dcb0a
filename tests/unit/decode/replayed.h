/* SPDX-License-Identifier: MIT */
/* Decodes trace of pt_code and compares the result with expected lines. */
#ifndef PTC_TESTS_REPLAYED_H
#define PTC_TESTS_REPLAYED_H

#include "lib_pt.h"

/* Decodes @b, which is released, and compares the text of pt_replay() with @lines. */
void replay_expect(struct ptc_buf *b, struct pt_how how, const char *lines);

#endif
