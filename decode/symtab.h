/* SPDX-License-Identifier: MIT */
/* A table of symbols as it is filled and searched; what fills it is in symbol.c and plt.c. */
#ifndef PTC_DECODE_SYMTAB_H
#define PTC_DECODE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SYMTAB_BLOCKS = 16 };

struct ptc_symbol {
	uint64_t addr, size; /* ELF virtual address */
	uint64_t end;	     /* if size is 0: how far it may reach; 0: not known */
	const char *name;    /* lent from the strings */
	char *plain;	     /* owned; demangled, when first asked for; NULL: as it is */
	uint8_t rank;	     /* the smaller, the better a name */
	bool plain_tried;
};

struct ptc_symseg {
	uint64_t off, size, addr;
};

struct ptc_symtab {
	char *strings[PTC_SYMTAB_BLOCKS]; /* owned: the file may be gone, or cut, later */
	size_t nstrings, strings_len;
	struct ptc_symbol *syms; /* owned; once sorted one for each address, ascending */
	size_t n, cap;
	struct ptc_symseg *segs; /* owned */
	size_t nsegs, segs_cap;
	bool unusable_go; /* names are missing: Go's table of them cannot be read */
};

/* Room for @len bytes of names, as long as the table. NULL: no memory, or more than is believable.
 */
char *ptc_symtab_room(struct ptc_symtab *t, size_t len);

/* False: no memory. What is over the limit is dropped. */
bool ptc_symtab_add(struct ptc_symtab *t, const struct ptc_symbol *s);
bool ptc_symtab_add_segment(struct ptc_symtab *t, uint64_t off, uint64_t size, uint64_t addr);

/* Keep the best name of each address. May be done again after more were added. */
void ptc_symtab_sort(struct ptc_symtab *t);

/* The symbol that holds the file offset @off, or, of a sorted table, begins at @addr; or NULL. */
struct ptc_symbol *ptc_symtab_at(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off);
const struct ptc_symbol *ptc_symtab_exact(const struct ptc_symtab *t, uint64_t addr);

#endif
