/* SPDX-License-Identifier: MIT */
/*
 * Names in the signature of a crash: they stay equal if compilers, inputs and versions of libraries
 * change. doc/json.md has the rules, with examples.
 */
#ifndef PTC_DECODE_CRASH_SIGNATURE_NAME_H
#define PTC_DECODE_CRASH_SIGNATURE_NAME_H

#include <stdbool.h>

/*
 * Returns the function @name, demangled or not, without parameters, template arguments, numbers of
 * closures, and suffixes of the compiler. Caller frees it. NULL: out of memory.
 */
char *ptc_signature_function(const char *name);

/*
 * Returns the base name of @file without versions. @file may be NULL: "[anonymous]", as for other
 * memory without a file. Caller frees it. NULL: out of memory.
 */
char *ptc_signature_module(const char *file);

/*
 * Returns Python's function @name, "Shop.open.<locals>.<lambda>", without parts that depend on the
 * version of Python. Caller frees it. NULL: out of memory.
 */
char *ptc_signature_python_function(const char *name);

/* Returns true if @module, from ptc_signature_module, is CPython, or calls functions for it. */
bool ptc_signature_is_python(const char *module);

#endif
