/* SPDX-License-Identifier: MIT */
/*
 * The functions of a stack, for a signature: each counts once, at any depth of a recursion. Starts
 * zeroed.
 */
#ifndef PTC_DECODE_CRASH_SIGNATURE_LIST_H
#define PTC_DECODE_CRASH_SIGNATURE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_signature_item {
	char *text;   /* owned */
	size_t group; /* functions that call each other in a circle have the same number */
	size_t times; /* frames of this function */
};

struct ptc_signature_list {
	struct ptc_signature_item *items; /* owned; the innermost function first */
	size_t n, cap;
	size_t ngroups;
};

/*
 * Returns the number of the function @text, which is added if it is new. Takes ownership of @text,
 * also on failure. NULL: out of memory. Returns SIZE_MAX if out of memory.
 */
size_t ptc_signature_list_intern(struct ptc_signature_list *l, char *text);

/* Append a frame of function @item, which is a number of ptc_signature_list_intern. */
void ptc_signature_list_append(struct ptc_signature_list *l, size_t item);

/*
 * Bring the functions into the order of the signature. The innermost function is first. Functions
 * of one circle are in the order of their names, because the depth of a recursion decides which of
 * them is the innermost. @overflow: the stack is used up; the functions of the recursion remain,
 * because any of them may have reached the end of the stack.
 */
void ptc_signature_list_finish(struct ptc_signature_list *l, bool overflow);

void ptc_signature_list_release(struct ptc_signature_list *l);

#endif
