/* SPDX-License-Identifier: MIT */
/*
 * The C++ exception that a thread is handling, in the layout of the Itanium C++ ABI: exception
 * handling, 2.2.1, and libstdc++'s unwind-cxx.h. libc++abi has the same end of the header.
 */
#ifndef PTC_ARCH_CXX_EXCEPTION_H
#define PTC_ARCH_CXX_EXCEPTION_H

#include "arch/memory_view.h"

enum { PTC_CXX_TYPE = 512, PTC_CXX_TEXT = 1024 };

struct ptc_cxx_exception {
	char type[PTC_CXX_TYPE]; /* mangled, without _ZTS: "St13runtime_error" */
	/* the string that the standard's exception keeps, or a thrown string; "" if there is none
	 */
	char text[PTC_CXX_TEXT];
	bool text_cut; /* the string is longer */
	/* function that what() calls; 0 if the type has no such function, or it is not known */
	uint64_t what;
};

/*
 * Search the thread's variables for the newest exception that it has caught, or that terminate()
 * was called for. @fs_base: the thread pointer. *@ret: address of the unwinder's header.
 */
bool ptc_cxx_exception_find(const struct ptc_memory_view *v, uint64_t fs_base, uint64_t *ret);

/* Read the exception whose header is at @addr. Returns false if no exception is there. */
bool ptc_cxx_exception_read(const struct ptc_memory_view *v, uint64_t addr,
			    struct ptc_cxx_exception *ret);

#endif
