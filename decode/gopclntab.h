/* SPDX-License-Identifier: MIT */
/*
 * Go's own table of functions and source lines (.gopclntab). The runtime needs it for panics and
 * the garbage collector, so `go build -ldflags='-s -w'` and strip(1) leave it in the program.
 *
 * The format is documented by Go: "Go 1.2 Runtime Symbol Table Information"
 * (golang.org/s/go12symtab), the types pcHeader, functab and _func of runtime/symtab.go and
 * runtime/runtime2.go, and the versions that debug/gosym/pclntab.go tells apart:
 *
 *   magic     since    addresses                     names, files and values are in
 *   fffffffb  Go 1.2   absolute, 8 bytes             one area, counted from the header
 *   fffffffa  Go 1.16  absolute, 8 bytes             areas of their own; a file by its unit
 *   fffffff0  Go 1.18  4 bytes, from runtime.text    the same
 *   fffffff1  Go 1.20  the same                      the same
 *
 * This reader takes the bytes alone. decode/goelf.h finds the table in a program.
 */
#ifndef PTC_DECODE_GOPCLNTAB_H
#define PTC_DECODE_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct ptc_go_lines;

struct ptc_gopclntab {
	uint8_t *bytes; /* owned */
	size_t len;
	uint32_t magic;
	/* Functions count from here: the address of runtime.text. 0: the table has addresses, or
	 * (Go 1.26) the address is not in the table. */
	uint64_t text;
	size_t n; /* functions */

	/* Views of `bytes`. */
	struct ptc_cur functab, funcs, names, files, units, values;
	struct ptc_go_lines *lines; /* owned; by function, read when first asked for; or NULL */
	size_t rows;		    /* of all lines */
};

struct ptc_go_func {
	uint64_t addr, size; /* of its code, without what aligns the next function */
	size_t name; /* where it is in `names`; it ends with a 0, behind `names` at the latest */
};

/* Do @bytes begin like a table for x86-64 of a known version? */
bool ptc_gopclntab_begins(const uint8_t *bytes, size_t len);

/*
 * The table at the start of @bytes, which it owns from now on. @len may be more than the table has.
 * @bytes[@len] is 0, so that each string ends. NULL: the table is damaged, or no memory; then
 * @bytes are still the caller's. The order of the functions is checked; whatever else the table
 * says is checked when it is used.
 */
struct ptc_gopclntab *ptc_gopclntab_new(uint8_t *bytes, size_t len);
void ptc_gopclntab_free(struct ptc_gopclntab *t);

/* Do functions count from `text`, not from 0? */
bool ptc_gopclntab_is_relative(const struct ptc_gopclntab *t);

/* All code of the table: [*ret_start, *ret_end). */
void ptc_gopclntab_range(const struct ptc_gopclntab *t, uint64_t *ret_start, uint64_t *ret_end);

/* Function @i of `n`, by ascending address. False: it is damaged, or has no name. */
bool ptc_gopclntab_func(const struct ptc_gopclntab *t, size_t i, struct ptc_go_func *ret);

/*
 * The source line of the code at @addr: its file's name, lent from the table, and *ret_line. In a
 * function that the compiler inlined it is the line of the innermost one. NULL: not known.
 */
const char *ptc_gopclntab_line(struct ptc_gopclntab *t, uint64_t addr, int *ret_line);

/*
 * Calls @on_line for each line that has code, as often as the table has it. Returns what @on_line
 * returned, if that is not 0.
 */
int ptc_gopclntab_each(const struct ptc_gopclntab *t,
		       int (*on_line)(void *ctx, const char *file, int line), void *ctx);

#endif
