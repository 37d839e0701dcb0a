/* SPDX-License-Identifier: MIT */
/*
 * The report of AddressSanitizer about an error that ends a program. The sanitizer copies the whole
 * text into memory of its own (ScopedInErrorReport of asan_report.cpp). The address of this memory
 * is on the stack while the sanitizer ends the program, both with abort() and with exit(). That
 * holds for the libraries of GCC and of LLVM.
 */
#ifndef PTC_ARCH_ASAN_REPORT_H
#define PTC_ARCH_ASAN_REPORT_H

#include "arch/memory_view.h"

enum { PTC_ASAN_KIND = 128, PTC_ASAN_TEXT = 1024 };

struct ptc_asan_report {
	char kind[PTC_ASAN_KIND]; /* "heap-buffer-overflow" */
	char text[PTC_ASAN_TEXT]; /* the access, and where the address is: lines of the report */
	bool text_cut;		  /* the text is longer */
};

/*
 * Search the stack above @sp for the address of a report. The innermost one counts. *@ret: address
 * of the text.
 */
bool ptc_asan_report_find(const struct ptc_memory_view *v, uint64_t sp, uint64_t *ret);

/* Read the report at @addr. Returns false if no such text is there. */
bool ptc_asan_report_read(const struct ptc_memory_view *v, uint64_t addr,
			  struct ptc_asan_report *ret);

#endif
