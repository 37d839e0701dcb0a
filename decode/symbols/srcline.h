/* SPDX-License-Identifier: MIT */
/* Source lines of code, from the debug information of its file, or from Go's pclntab. */
#ifndef PTC_DECODE_SYMBOLS_SRCLINE_H
#define PTC_DECODE_SYMBOLS_SRCLINE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/symbols/inline_frames.h"

struct ptc_codefile;
struct ptc_srcline_module;

/* The files that were looked up. */
struct ptc_srclines {
	struct ptc_srcline_module *modules; /* owned */
	size_t n, cap;
};

#define PTC_SRCLINES_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/*
 * Returns the file name of the source line for the code at offset @off of the file found for @f,
 * and gets the line. NULL: not known. @f must outlive @s. The name is lent until release. Separate
 * debug information is found as for symbols (ptc_search_debug). A file that cannot be read is tried
 * once.
 */
const char *ptc_srcline_find(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			     int *ret_line);

/*
 * Finds the functions inlined at the same place. The number, @frames and the names are as in
 * ptc_inline_frames_find. The names are lent until release. Names are mangled if @f's names are.
 */
size_t ptc_srcline_inlines(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			   struct ptc_inline_frame frames[PTC_INLINE_MAX]);

/*
 * Returns the module of the file found for @f, and gets its debug information (NULL: none). Both
 * are lent until release. NULL: the file cannot be read.
 */
Dwfl_Module *ptc_srcline_module(struct ptc_srclines *s, const struct ptc_codefile *f,
				Dwarf **ret_dwarf);

/*
 * Returns the first of the files that were read and have no lines, NULL: none. *@ret_n: their
 * number.
 */
const char *ptc_srclines_first_without(const struct ptc_srclines *s, size_t *ret_n);

/* See ptc_decode_each_srcline. */
int ptc_srclines_each(const struct ptc_srclines *s,
		      int (*on_line)(void *ctx, const char *file, int line), void *ctx);

/*
 * Callbacks for libdwfl, instead of its own, which open files by name. The first finds nothing:
 * each module is reported with its open file. The second finds the debug information of a module,
 * whose user data is its struct ptc_codefile, as for symbols. It does not find alternate files;
 * decode/elf/altlink.h does.
 */
int ptc_srcline_find_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			 char **ret_path, Elf **ret_elf);
int ptc_srcline_find_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			       const char *path, const char *link_name, GElf_Word crc,
			       char **ret_path);

/*
 * Returns the folder in which the compiler ran for the same code as in ptc_srcline_find, lent until
 * release. NULL: not known.
 */
const char *ptc_srcline_folder(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off);

void ptc_srclines_release(struct ptc_srclines *s);

#endif
