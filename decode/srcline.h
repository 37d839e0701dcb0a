/* SPDX-License-Identifier: MIT */
/* Source lines of code, from the debug information of its file, or from Go's own table. */
#ifndef PTC_DECODE_SRCLINE_H
#define PTC_DECODE_SRCLINE_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_codefile;
struct ptc_srcline_module;

/* The files that were asked about. */
struct ptc_srclines {
	struct ptc_srcline_module *modules; /* owned */
	size_t n, cap;
};

#define PTC_SRCLINES_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/*
 * The source line of the code at offset @off of the file that was found for @f (which must outlive
 * @s): its file's name, lent until release, and *ret_line; NULL if that is not known. Debug
 * information apart from the file is found as its symbols are (ptc_search_debug). A file that
 * cannot be read is opened once, and not again.
 */
const char *ptc_srcline_find(struct ptc_srclines *s, const struct ptc_codefile *f, uint64_t off,
			     int *ret_line);

/* See ptc_decode_each_srcline. */
int ptc_srclines_each(const struct ptc_srclines *s,
		      int (*on_line)(void *ctx, const char *file, int line), void *ctx);

/*
 * Callbacks for libdwfl, in the place of its own, which open files by name. The first one finds
 * nothing: each module is reported with its open file. The second one finds the debug information
 * of a module whose user data is its struct ptc_codefile, by the rules that symbols are found by.
 * It finds no alternate file, which decode/alternate.h does.
 */
int ptc_srcline_find_elf(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			 char **ret_path, Elf **ret_elf);
int ptc_srcline_find_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			       const char *path, const char *link_name, GElf_Word crc,
			       char **ret_path);

void ptc_srclines_release(struct ptc_srclines *s);

#endif
