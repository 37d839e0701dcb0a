/* SPDX-License-Identifier: MIT */
/*
 * Shortens demangled names of functions for tables. Always omits parts that say nothing to a
 * reader: Rust's hashes, inline namespaces (std::__cxx11), ABI tags, default template arguments of
 * the C++ library, the compiler's clone suffixes. So "std::__cxx11::basic_string<char,
 * std::char_traits<char>, std::allocator<char> >" becomes "std::string".
 *
 * A name that is still too long loses more, step by step, until it fits:
 *   1. nested template arguments, the innermost first: "map<...>"
 *   2. the arguments of functions: "(...)"
 *   3. all template arguments
 *   4. the outer namespaces and classes: "...::push"
 *   5. the end of the name: "..."
 */
#ifndef PTC_CLI_COMMON_SHORT_NAME_H
#define PTC_CLI_COMMON_SHORT_NAME_H

#include <stddef.h>

/* Longer names are cut off at this number of bytes before all else. */
enum { PTC_SHORT_NAME_LIMIT = 1 << 16 };

/*
 * Returns @name, shortened to at most @width columns of a terminal (base/terminal_escape.h), which
 * the caller frees. Any bytes are accepted as a name: brackets without a partner are plain text.
 * The result is not escaped. NULL: out of memory.
 */
char *ptc_short_name(const char *name, size_t width);

/*
 * As ptc_short_name, but without the arguments of the function and of templates:
 * "store::find<...>".
 */
char *ptc_bare_name(const char *name, size_t width);

#endif
