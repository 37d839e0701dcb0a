/* SPDX-License-Identifier: MIT */
/* Lines of CPython's code, from a code object's location table (Objects/locations.md of CPython).
 */
#ifndef PTC_ARCH_PYTHON_LINES_H
#define PTC_ARCH_PYTHON_LINES_H

#include "arch/memory_view.h"

/*
 * Get the line of the code unit with number @unit. @table: address of the bytes object with the
 * table. @first: the first line of the function. Returns 0 if the code has no line, or if the table
 * cannot be read.
 */
uint32_t ptc_python_line(const struct ptc_memory_view *v, uint64_t table, uint32_t first,
			 uint64_t unit);

#endif
