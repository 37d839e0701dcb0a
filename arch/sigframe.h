/* SPDX-License-Identifier: MIT */
/*
 * The frame that the kernel pushes onto the stack for a signal handler (struct rt_sigframe of
 * x86-64).
 */
#ifndef PTC_ARCH_SIGFRAME_H
#define PTC_ARCH_SIGFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Search for the frame of a handler on an alternate stack. @bytes: memory from @addr on, above the
 * stack pointer @sp. *@ret_sp: stack pointer of the interrupted code, which is on another stack.
 * Returns false if there is no such frame.
 */
bool ptc_sigframe_find(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t sp,
		       uint64_t *ret_sp);

/* Bytes of the saved context behind the return address of a signal frame. */
enum { PTC_SIGFRAME_CONTEXT = 40 + 17 * 8, PTC_SIGFRAME_REGS = 17 };

/* Get the interrupted registers in DWARF order. The last one is the instruction pointer. */
void ptc_sigframe_registers(const uint8_t context[PTC_SIGFRAME_CONTEXT],
			    uint64_t ret[PTC_SIGFRAME_REGS]);

/* Returns true if @code starts with the signal trampoline: mov $15, %rax; syscall. */
bool ptc_sigframe_is_return(const uint8_t *code, size_t len);
enum { PTC_SIGFRAME_RETURN = 9 }; /* bytes of that code */

#endif
