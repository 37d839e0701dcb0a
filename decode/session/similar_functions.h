/* SPDX-License-Identifier: MIT */
/* The known functions of a recording that have a name similar to the one that was asked for. */
#ifndef PTC_DECODE_SESSION_SIMILAR_FUNCTIONS_H
#define PTC_DECODE_SESSION_SIMILAR_FUNCTIONS_H

#include "base/similar.h"
#include "ptcap/decode.h"

/*
 * Adds to @s the names in each symbol table that @d has read so far, without parameters. If a name
 * is the wanted name itself, @s stays empty: the function exists, but no branch is in it.
 */
void ptc_decode_similar(const struct ptc_decode *d, struct ptc_similar *s);

#endif
