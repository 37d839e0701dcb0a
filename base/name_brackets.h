/* SPDX-License-Identifier: MIT */
/*
 * Pairs of brackets in a demangled name. Operators such as "operator<<" and "operator()", arrows
 * "->", and comparisons in expressions are no brackets.
 */
#ifndef PTC_BASE_NAME_BRACKETS_H
#define PTC_BASE_NAME_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_BRACKETS_DEEP = 64 }; /* deeper brackets are plain text */

/* A byte of a name. */
struct ptc_bracket {
	uint32_t partner; /* offset of the other bracket, if is_open */
	uint8_t angles;	  /* pairs of < > around it, its own pair included */
	uint8_t depth;	  /* all pairs around it, its own pair included */
	bool angle;	  /* a < or > with a partner */
	bool is_open;	  /* an opening bracket with a partner */
	bool in_operator; /* in the name of an operator, or behind its word "operator" */
};

bool ptc_is_name_char(char c);

/* Fill in @map, which has an entry for each of the @len bytes of @name. */
void ptc_brackets_find(const char *name, size_t len, struct ptc_bracket *map);

#endif
