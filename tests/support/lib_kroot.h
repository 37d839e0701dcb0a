/* SPDX-License-Identifier: MIT */
/*
 * A folder that looks like the root of a machine whose kernel has text, a module and a BPF program.
 * It has /proc/kallsyms, modules, kcore and files with their names.
 */
#ifndef PTC_TEST_LIB_KROOT_H
#define PTC_TEST_LIB_KROOT_H

#include <stddef.h>
#include <stdint.h>

#define KR_PAGE	   ((uint64_t)4096)
#define KR_TEXT	   UINT64_C(0xffffffff81000000) /* 4 pages, the second all zeros; then data */
#define KR_ETEXT   (KR_TEXT + 0x3100)
#define KR_MODULE  UINT64_C(0xffffffffc0001000) /* one page */
#define KR_PROGRAM UINT64_C(0xffffffffc0003800) /* in one page and a part of the next */
#define KR_TRAMP   UINT64_C(0xfffffe0000006000) /* one page */

/* Fill byte of each page of kcore. */
enum { KR_IN_TEXT = 1, KR_IN_MODULE = 2, KR_IN_PROGRAM = 3, KR_IN_TRAMP = 4, KR_IN_DATA = 9 };

extern const char kr_kallsyms[], kr_modules[];

/* Makes the folder and returns its name in @root. Any failure aborts. */
void kr_make(char *root, size_t size);
/* Replaces the content of a file in the folder. */
void kr_set(const char *root, const char *file, const void *bytes, size_t len);

#endif
