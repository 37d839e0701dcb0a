/* SPDX-License-Identifier: MIT */
/*
 * The panic that ends a Go program. The runtime keeps it in the structure of the goroutine,
 * runtime.g: its _panic leads to the structure of the panic, on the stack of the goroutine. The
 * value of the panic is an interface: the address of a type, and of the value. Before the runtime
 * prints an error, it replaces the value by the error's text (preprintpanics() of
 * runtime/panic.go).
 *
 * The layout is another one in each version of Go. A reader takes it from the debug information of
 * the program. Without debug information, only the relations of the structures to each other tell
 * where they are: runtime.g begins with the ends of the stack, and contains its own address, in
 * sched.g.
 */
#ifndef PTC_ARCH_GO_PANIC_H
#define PTC_ARCH_GO_PANIC_H

#include "arch/memory_view.h"

enum { PTC_GO_TEXT = 2048, PTC_GO_VALUE = 16 };

/* Offsets of members, in bytes. */
struct ptc_go_layout {
	uint64_t g_panic, g_goid;		  /* of runtime.g */
	uint64_t panic_arg, panic_goexit;	  /* of runtime._panic */
	uint64_t type_tflag, type_kind, type_str; /* of runtime._type, internal/abi.Type */
};

/* The runtime's numbers of kinds of types (internal/abi/type.go). */
enum ptc_go_kind {
	PTC_GO_NIL, /* no value */
	PTC_GO_BOOL,
	PTC_GO_INT,
	PTC_GO_INT8,
	PTC_GO_INT16,
	PTC_GO_INT32,
	PTC_GO_INT64,
	PTC_GO_UINT,
	PTC_GO_UINT8,
	PTC_GO_UINT16,
	PTC_GO_UINT32,
	PTC_GO_UINT64,
	PTC_GO_UINTPTR,
	PTC_GO_FLOAT32,
	PTC_GO_FLOAT64,
	PTC_GO_COMPLEX64,
	PTC_GO_COMPLEX128,
	PTC_GO_STRING = 24,
};

struct ptc_go_panic {
	uint64_t goroutine; /* its number */
	uint64_t kind;	    /* enum ptc_go_kind, or another kind */
	uint32_t name;	    /* place of the type's name, after the start of the runtime's types */
	bool star;	    /* the name has a star in front, which does not count */
	uint64_t addr;	    /* of the value */
	uint8_t value[PTC_GO_VALUE]; /* of a number: its bytes; otherwise zeros */
	char text[PTC_GO_TEXT];	     /* of a string */
	bool text_cut;		     /* the string is longer */
};

/*
 * Find the goroutine that panicked. @g: register R14. In Go code it has the runtime.g of the
 * running goroutine, or of the thread's own stack or signal stack. @fs_base: of the thread, whose
 * thread-local variables have the same address. *@ret: address of the goroutine's runtime.g. It may
 * have no panic, which only a reader with a layout can tell.
 */
bool ptc_go_panic_find(const struct ptc_memory_view *v, uint64_t g, uint64_t fs_base,
		       uint64_t *ret);

/* Read what a reader of the goroutine at @g needs, with any layout. */
void ptc_go_panic_touch(const struct ptc_memory_view *v, uint64_t g);

/* Read the panic of the goroutine at @g. Returns false if there is none. */
bool ptc_go_panic_read(const struct ptc_memory_view *v, const struct ptc_go_layout *layout,
		       uint64_t g, struct ptc_go_panic *ret);

#endif
