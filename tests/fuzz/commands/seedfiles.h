/* SPDX-License-Identifier: MIT */
/* Files besides a recording that tests/support does not make. Out of memory aborts. */
#ifndef PTC_TESTS_FUZZ_SEEDFILES_H
#define PTC_TESTS_FUZZ_SEEDFILES_H

#include "base/buf.h"

/*
 * Makes a core of process and thread @pid, killed by SIGSEGV: pt_code at PT_CODE is mapped from
 * /bin/gone, and a stack is at SF_STACK.
 */
#define SF_STACK 0x7fff0000ull
void sf_core(struct ptc_buf *b, int32_t pid);

/* Makes a Go program without symbols: gp_table, and pt_code at GP_TEXT + GP_MAIN. */
void sf_go(struct ptc_buf *b);

#endif
