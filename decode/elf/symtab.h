/* SPDX-License-Identifier: MIT */
/* A table of symbols and its look-up. symbol.c and plt.c of decode/symbols fill it. */
#ifndef PTC_DECODE_ELF_SYMTAB_H
#define PTC_DECODE_ELF_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_SYMTAB_BLOCKS = 16 };

struct ptc_symbol {
	uint64_t addr, size; /* ELF virtual address */
	uint64_t end;	     /* if size is 0: its upper limit; 0: not known */
	const char *name;    /* lent from the strings */
	char *plain;	     /* owned; demangled on first use; NULL: use name */
	uint8_t rank;	     /* smaller is better */
	bool plain_tried;
};

struct ptc_symseg {
	uint64_t off, size, addr;
};

struct ptc_symtab {
	char *strings[PTC_SYMTAB_BLOCKS]; /* owned copies: the file may vanish, or shrink */
	size_t nstrings, strings_len;
	struct ptc_symbol *syms; /* owned; after sorting one per address, ascending */
	size_t n, cap;
	struct ptc_symseg *segs; /* owned */
	size_t nsegs, segs_cap;
	bool unusable_go; /* names are missing: Go's table cannot be read */
};

/* NULL is fine. */
void ptc_symtab_free(struct ptc_symtab *t);

/* Allocates @len bytes for names, owned by the table. NULL: out of memory, or above the limit. */
char *ptc_symtab_room(struct ptc_symtab *t, size_t len);

/* Return false if out of memory. Symbols above the limit are dropped. */
bool ptc_symtab_add(struct ptc_symtab *t, const struct ptc_symbol *s);
bool ptc_symtab_add_segment(struct ptc_symtab *t, uint64_t off, uint64_t size, uint64_t addr);

/* Keeps the best name of each address. May be repeated after more symbols were added. */
void ptc_symtab_sort(struct ptc_symtab *t);

/*
 * Return the symbol that contains the file offset @off, or that begins at @addr (sorted table
 * only). NULL: none.
 */
struct ptc_symbol *ptc_symtab_at(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off);
const struct ptc_symbol *ptc_symtab_exact(const struct ptc_symtab *t, uint64_t addr);

/* Returns the linker name of the function at file offset @off. Lent from the table; NULL: none. */
const char *ptc_symtab_find(const struct ptc_symtab *t, uint64_t off, uint64_t *ret_off);

#endif
