/* SPDX-License-Identifier: MIT */
/*
 * Tells functions of a language's runtime from functions of the program: by the file that has the
 * function, and by its name if the runtime is linked into the program.
 */
#ifndef PTC_DECODE_CRASH_RUNTIME_FRAMES_H
#define PTC_DECODE_CRASH_RUNTIME_FRAMES_H

#include <stdbool.h>

enum ptc_runtime {
	PTC_RUNTIME_NONE,      /* the program's own function, or a function of another library */
	PTC_RUNTIME_C,	       /* the C library and its loader */
	PTC_RUNTIME_CXX,       /* the C++ library, its templates too; the unwinder */
	PTC_RUNTIME_RUST,      /* the crates std, core, alloc, panic_abort and panic_unwind */
	PTC_RUNTIME_GO,	       /* the package runtime */
	PTC_RUNTIME_SANITIZER, /* AddressSanitizer and its relatives */
};

/*
 * Returns the runtime of a function. @file: path of its file, or NULL. @function: its name,
 * demangled or not, or NULL.
 */
enum ptc_runtime ptc_runtime_of(const char *file, const char *function);

/*
 * Returns true if @source, the file of a line as the compiler names it, is of a runtime or of the
 * system's headers. Functions of these are inlined into functions of the program.
 */
bool ptc_runtime_has_source(const char *source);

#endif
