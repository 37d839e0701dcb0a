/* SPDX-License-Identifier: MIT */
/*
 * Looks up what an item of a decode is about, for decode/: its process and mappings. ptcap/decode.h
 * and ptcap/lookup.h declare the other functions.
 */
#ifndef PTC_DECODE_SESSION_ITEM_LOOKUP_H
#define PTC_DECODE_SESSION_ITEM_LOOKUP_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/lookup.h"

struct ptc_addrspace;
struct ptc_decode_input;
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
 * Returns the module of the file with the code at @ip of process @pid, and gets its debug
 * information (NULL: none). Both are lent until ptc_decode_free. NULL: the file is not known.
 */
Dwfl_Module *ptc_decode_module(struct ptc_decode *d, int32_t pid, uint64_t ip, Dwarf **ret_dwarf);

/* Returns what @d decodes. */
const struct ptc_decode_input *ptc_decode_input(const struct ptc_decode *d);

#endif
