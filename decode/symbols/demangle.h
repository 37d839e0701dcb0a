/* SPDX-License-Identifier: MIT */
/* Demangles names of C++, Rust and D. */
#ifndef PTC_DECODE_SYMBOLS_DEMANGLE_H
#define PTC_DECODE_SYMBOLS_DEMANGLE_H

/*
 * Returns the symbol @name as in its source: with parameters, without the return type. A suffix
 * behind @ ("@plt", a version) is kept. "@@VERSION" is dropped, because the plain name means this
 * version, too. Caller frees the result. NULL: @name needs no change, or out of memory.
 */
char *ptc_demangle(const char *name);

#endif
