/* SPDX-License-Identifier: MIT */
/*
 * Texts of addresses: name and offset, file and line, instruction. Each is made once for an address
 * and its code (ptc_decode_code_part), and copied later. The memory is bounded.
 */
#ifndef PTC_CLI_DECODE_ADDRESS_TEXT_H
#define PTC_CLI_DECODE_ADDRESS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/common/code_parts.h"
#include "ptcap/decode.h"

struct ptc_printer;

/* What a text is about. Texts of different columns are independent. */
enum ptc_address_column {
	PTC_ADDRESS_SYMBOL, /* function and offset */
	PTC_ADDRESS_BRANCH, /* default format: kind, source and target of a branch */
	PTC_ADDRESS_INSN,   /* --insn: address, function and instruction; the source line */
	PTC_ADDRESS_DISASM, /* the instruction */
	PTC_ADDRESS_LINE,   /* the source line; may be empty */
};

/* Zeroed: empty. */
struct ptc_address_texts {
	uint8_t *bytes;	     /* owned; the texts; NULL: there is none yet */
	uint32_t *heads;     /* owned; for each hash the offset of its newest text; 0: none */
	uint32_t used, cap;  /* bytes */
	uint32_t last;	     /* offset of the text that was wanted last */
	uint32_t patience;   /* texts until memory is asked for again */
	unsigned int others; /* number of other threads' texts, which need memory, too */
	struct ptc_code_parts code;
};

void ptc_address_texts_release(struct ptc_address_texts *t);

/* To be called at the start of each on_items: the code may have changed. */
static inline void ptc_address_texts_begin(struct ptc_address_texts *t)
{
	ptc_code_parts_begin(&t->code);
}

/*
 * Prints a text into p->line. Returns the offset in the buffer where its second part begins; if it
 * has one part, where it ends.
 */
typedef size_t ptc_address_print(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip);

/*
 * Prints the text of @ip in the process of @it: copies the text that @print made earlier for the
 * same code, or calls @print. Returns the same as @print. The text may depend on @ip, on the code,
 * names and source lines there, and on the printer's settings. It may depend on it->insn in the
 * columns INSN and DISASM, and on it->to and it->kind in the column BRANCH.
 */
size_t ptc_address_print_once(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip,
			      enum ptc_address_column column, ptc_address_print *print);

#endif
