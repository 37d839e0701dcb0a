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
 * This reader gets the bytes only. decode/symbols/go_elf.h finds the table in a program.
 */
#ifndef PTC_DECODE_SYMBOLS_GOPCLNTAB_H
#define PTC_DECODE_SYMBOLS_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct ptc_go_lines;

struct ptc_gopclntab {
	uint8_t *bytes; /* owned */
	size_t len;
	uint32_t magic;
	/*
	 * Function addresses count from here: the address of runtime.text. 0: the table has
	 * absolute addresses, or (Go 1.26) it does not have this address.
	 */
	uint64_t text;
	size_t n; /* functions */

	/* Views of `bytes`. */
	struct ptc_cur functab, funcs, names, files, units, values;
	struct ptc_go_lines *lines; /* owned; by function, read on first use; or NULL */
	size_t rows;		    /* rows in lines */
};

struct ptc_go_func {
	/* address and size of the code, without the bytes that align the next function */
	uint64_t addr, size;
	size_t name; /* offset in `names`; the name ends with a 0, behind `names` at the latest */
};

/* Do @bytes begin like a table for x86-64 of a known version? */
bool ptc_gopclntab_begins(const uint8_t *bytes, size_t len);

/*
 * Returns the table at the start of @bytes, and takes ownership of @bytes. @len may exceed the
 * table. @bytes[@len] must be 0, so that each string ends. NULL: the table is damaged, or out of
 * memory. Then the caller still owns @bytes. Checks the order of the functions here. Everything
 * else is checked when it is used.
 */
struct ptc_gopclntab *ptc_gopclntab_new(uint8_t *bytes, size_t len);
void ptc_gopclntab_free(struct ptc_gopclntab *t);

/* Do function addresses count from `text`, not from 0? */
bool ptc_gopclntab_is_relative(const struct ptc_gopclntab *t);

/* Sets [*ret_start, *ret_end): all code of the table. */
void ptc_gopclntab_range(const struct ptc_gopclntab *t, uint64_t *ret_start, uint64_t *ret_end);

/* Read function @i of `n`, by ascending address. Returns false if it is damaged, or has no name. */
bool ptc_gopclntab_func(const struct ptc_gopclntab *t, size_t i, struct ptc_go_func *ret);

/*
 * Returns the source file of the code at @addr, lent from the table, and sets *ret_line. Inlined
 * code has the line of the innermost function. NULL: unknown.
 */
const char *ptc_gopclntab_line(struct ptc_gopclntab *t, uint64_t addr, int *ret_line);

/*
 * Calls @on_line for each line that has code, as often as the table has it. Returns the result of
 * @on_line as soon as it is not 0.
 */
int ptc_gopclntab_each(const struct ptc_gopclntab *t,
		       int (*on_line)(void *ctx, const char *file, int line), void *ctx);

#endif
