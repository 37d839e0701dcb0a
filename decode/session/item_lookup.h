/* SPDX-License-Identifier: MIT */
/*
 * Looks up what an item of a decode is about: its process, and the names, source lines and state of
 * the code. ptcap/decode.h declares most of its functions.
 */
#ifndef PTC_DECODE_SESSION_ITEM_LOOKUP_H
#define PTC_DECODE_SESSION_ITEM_LOOKUP_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/symbols/inline_frames.h"

struct ptc_addrspace;
struct ptc_decode;
struct ptc_decode_input;
struct ptc_elf_layout;
struct ptc_err;
struct ptc_item;
struct ptc_proc;

/* Returns the process as the sideband records applied so far made it. NULL: it is not known. */
struct ptc_proc *ptc_decode_process(const struct ptc_decode *d, int32_t pid);

/*
 * Returns the mappings of the process of @item. To be called inside on_items, and lent until its
 * end.
 */
const struct ptc_addrspace *ptc_decode_addrspace(const struct ptc_decode *d,
						 const struct ptc_item *item);

/*
 * Finds the functions at @ip in the process of @item, the innermost first: inlined functions, and
 * last the real function. Returns their number; 0: not known. Names are
 * lent until ptc_decode_free. To be called inside on_items. See ptc_inline_frames_find.
 */
size_t ptc_decode_inlines(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			  struct ptc_inline_frame frames[PTC_INLINE_MAX]);

/*
 * Returns the folder in which the compiler ran for the code at @ip: the name that
 * ptc_decode_srcline returns may be relative to this folder. Lent until ptc_decode_free. NULL: not
 * known.
 */
const char *ptc_decode_source_folder(struct ptc_decode *d, const struct ptc_item *item,
				     uint64_t ip);

/*
 * Get the layout of the file from which the code of the recorded file @name came. The caller owns
 * *@ret. PTC_E_NOT_EXIST: the code came from no file, or from several builds of this file, or the
 * file has changed since. PTC_E_FORMAT, PTC_E_NO_MEMORY.
 */
int ptc_decode_layout(const struct ptc_decode *d, const char *name, struct ptc_elf_layout **ret,
		      struct ptc_err *err);

/*
 * Returns whether a software source of ptcap recorded. Its times are no measure of a program. False
 * if that is not known.
 */
bool ptc_decode_is_of_software(const struct ptc_decode *d);

/*
 * Returns the module of the file with the code at @ip of process @pid, and gets its debug
 * information (NULL: none). Both are lent until ptc_decode_free. NULL: the file is not known.
 */
Dwfl_Module *ptc_decode_module(struct ptc_decode *d, int32_t pid, uint64_t ip, Dwarf **ret_dwarf);

/*
 * Returns the name of thread @tid as of the sideband records applied so far. NULL: not known. Lent
 * until the next item.
 */
const char *ptc_decode_thread_name(const struct ptc_decode *d, int32_t tid);

/* Returns what @d decodes. */
const struct ptc_decode_input *ptc_decode_input(const struct ptc_decode *d);

#endif
