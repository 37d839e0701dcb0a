/* SPDX-License-Identifier: MIT */
/* A small table of functions and lines in the format of Go's linker (decode/symbols/gopclntab.h).
 */
#ifndef PTC_TESTS_LIB_GOPCLN_H
#define PTC_TESTS_LIB_GOPCLN_H

#include "base/buf.h"

/*
 * Three functions, from GP_TEXT on:
 *
 *   +0x10  main.main   a.go:10 for 8 bytes, a.go:11 for 8, b.go:3 (inlined) for 8, a.go:12 for 8
 *   +0x30  main.leaf   a.go:20 for 12 bytes, then nothing for 4
 *   +0x40  main.bare   no lines, up to +0x50
 */
enum { GP_TEXT = 0x401000, GP_MAIN = 0x10, GP_LEAF = 0x30, GP_BARE = 0x40, GP_END = 0x50 };

enum gp_magic {
	GP_1_2 = 0xfb,
	GP_1_16 = 0xfa,
	GP_1_18 = 0xf0,
	GP_1_20 = 0xf1,
};

void gp_table(struct ptc_buf *b, enum gp_magic magic);

#endif
