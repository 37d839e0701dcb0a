/* SPDX-License-Identifier: MIT */
/* Facts about the runtime of a Go program, from its debug information and symbols. */
#ifndef PTC_DECODE_SYMBOLS_GO_RUNTIME_H
#define PTC_DECODE_SYMBOLS_GO_RUNTIME_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/go_panic.h"
#include "ptcap/cursor.h"

/*
 * Get the layout of the runtime's structures. @dwarf may be NULL. Returns false if the debug
 * information does not have all of them.
 */
bool ptc_go_runtime_layout(Dwarf *dwarf, struct ptc_go_layout *ret);

/*
 * Get the name that Go prints for a type, as far as it fits. @name: its place after the start of
 * the runtime's types. Returns false if @mod, which may be NULL, does not have the name.
 */
bool ptc_go_runtime_type(Dwfl_Module *mod, uint32_t name, char *ret, size_t size);

/*
 * Get the name that @c begins with, as far as it fits: a byte of flags, a length as a varint, and
 * the text (internal/abi/type.go). Returns false if there is no name.
 */
bool ptc_go_runtime_name(struct ptc_cur c, char *ret, size_t size);

#endif
