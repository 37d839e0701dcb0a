/* SPDX-License-Identifier: MIT */
/* Copying structs of the public interface, which begin with their size. */
#ifndef PTC_BASE_OPTS_H
#define PTC_BASE_OPTS_H

#include <stddef.h>

#include "ptcap/error.h"

/*
 * Copy the caller's @opts to @ret, which has @known bytes. The caller may be older or newer than
 * this library. Options that an older caller does not know become 0. @init names the initializer
 * macro, for messages. PTC_E_USAGE: @opts is NULL, or its size is not set. PTC_E_UNSUPPORTED: a
 * newer caller set an option that this library does not know.
 */
int ptc_opts_take(void *ret, size_t known, const void *opts, const char *init, struct ptc_err *err);

/*
 * Copy the @known bytes at @from to the caller's @ret, which begins with its size. The caller may
 * be older or newer than this library: it gets the members that both know, and the others stay as
 * they are. Without a size nothing is copied.
 */
void ptc_opts_give(void *ret, const void *from, size_t known);

#endif
