/* SPDX-License-Identifier: MIT */
/*
 * The message of the GNU C library before it calls abort(): of a failed assertion, of malloc's
 * checks, of a smashed stack. The library keeps it for debuggers: __abort_msg points to a struct
 * abort_msg_s (include/stdlib.h of glibc), which mmap() made.
 */
#ifndef PTC_ARCH_ABORT_MSG_H
#define PTC_ARCH_ABORT_MSG_H

#include "arch/memory_view.h"

/*
 * Search [@from, @to), the variables of a library or program, for __abort_msg. The symbol is not
 * needed: a page with such a structure is unlike other memory. *@ret: address of the structure.
 */
bool ptc_abort_msg_find(const struct ptc_memory_view *v, uint64_t from, uint64_t to, uint64_t *ret);

/*
 * Read the message of the structure at @addr into @ret of @size bytes, without newlines at its end.
 * Returns false if no such structure is there.
 */
bool ptc_abort_msg_read(const struct ptc_memory_view *v, uint64_t addr, char *ret, size_t size,
			bool *ret_cut);

#endif
