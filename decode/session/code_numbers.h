/* SPDX-License-Identifier: MIT */
/*
 * Numbers for code: a part of a file that is mapped at an address has one number, in each process
 * and at any time. All other code has a number of the state of its process.
 */
#ifndef PTC_DECODE_SESSION_CODE_NUMBERS_H
#define PTC_DECODE_SESSION_CODE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

struct ptc_codefile;

/* A file, and the address of its offset 0. */
struct ptc_code_number {
	const struct ptc_codefile *file; /* lent; NULL: empty slot */
	uint64_t base;
	uint64_t number;
};

/* Zeroed: empty. */
struct ptc_code_numbers {
	struct ptc_code_number *slots; /* owned; by hash */
	size_t n, cap;		       /* n: numbers given; cap: 0 or a power of two */
};

void ptc_code_numbers_release(struct ptc_code_numbers *c);

/* As ptc_decode_code_part, with the numbers in @c. */
void ptc_code_numbers_part(struct ptc_code_numbers *c, const struct ptc_decode *d,
			   const struct ptc_item *item, uint64_t ip, struct ptc_code_part *ret);

#endif
