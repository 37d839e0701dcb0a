/* SPDX-License-Identifier: MIT */
/*
 * The panic that ends a Rust program: its message and its place in the source. The panic handler
 * gives the hook a structure on the stack, and stays on the stack when it aborts. The layout is the
 * compiler's choice. From Rust 1.63 to 1.95 only the order of words changed:
 *
 *	payload: &dyn Any	address, and a table { drop, size, alignment, type_id }
 *	location: &Location	{ file: &str, line: u32, column: u32 }
 */
#ifndef PTC_ARCH_RUST_PANIC_H
#define PTC_ARCH_RUST_PANIC_H

#include "arch/memory_view.h"

enum { PTC_RUST_FILE = 512, PTC_RUST_TEXT = 2048 };

struct ptc_rust_panic {
	char file[PTC_RUST_FILE]; /* as the compiler wrote it, "src/main.rs" */
	uint32_t line, column;
	char text[PTC_RUST_TEXT]; /* ""; the payload is no string */
	bool text_cut;		  /* the text is longer */
};

/*
 * Search the stack above @sp for the structure. The innermost one counts. *@ret: its address.
 */
bool ptc_rust_panic_find(const struct ptc_memory_view *v, uint64_t sp, uint64_t *ret);

/* Read the structure at @addr. Returns false if no such structure is there. */
bool ptc_rust_panic_read(const struct ptc_memory_view *v, uint64_t addr,
			 struct ptc_rust_panic *ret);

#endif
