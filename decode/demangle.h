/* SPDX-License-Identifier: MIT */
/* Names of C++, Rust and D as their sources have them. */
#ifndef PTC_DECODE_DEMANGLE_H
#define PTC_DECODE_DEMANGLE_H

/*
 * The symbol @name as a person would write it: with parameters, without the
 * type that is returned. What is behind an @ ("@plt", a version) is kept, but
 * for "@@VERSION", which is what the name means anyway. The caller's to free;
 * NULL: the name is as it should be, or no memory.
 */
char *ptc_demangle(const char *name);

#endif
