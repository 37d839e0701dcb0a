/* SPDX-License-Identifier: MIT */
/* Functions that share a name, and the choice among them. */
#ifndef PTC_DECODE_SYMBOLS_AMBIGUOUS_SYMBOL_H
#define PTC_DECODE_SYMBOLS_AMBIGUOUS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/locate.h"

struct ptc_homonym {
	uint64_t addr, size;
	bool global;
};

struct ptc_homonyms {		   /* zeroed: none */
	struct ptc_homonym *items; /* owned */
	size_t n, cap;
};

void ptc_homonyms_release(struct ptc_homonyms *h);

/*
 * Add @one. Entries of one address are merged: global if one is, with the largest size. Returns
 * false if out of memory.
 */
bool ptc_homonyms_add(struct ptc_homonyms *h, const struct ptc_homonym *one);

/*
 * Choose a function. PTC_E_NOT_EXIST: no such function. PTC_E_USAGE: there are several. The message
 * lists them, with @hint behind them: what to enter instead. @where ("'/bin/ls'") and @name are for
 * messages.
 */
int ptc_homonyms_choose(struct ptc_homonyms *h, int which, const char *where, const char *name,
			const char *hint, struct ptc_homonym *ret, struct ptc_err *err);

#endif
