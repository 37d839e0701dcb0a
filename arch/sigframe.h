/* SPDX-License-Identifier: MIT */
/* The frame that the kernel puts onto a stack for a signal handler (struct rt_sigframe of x86-64).
 */
#ifndef PTC_ARCH_SIGFRAME_H
#define PTC_ARCH_SIGFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks for the frame of a handler on an alternate stack. @bytes are memory from @addr on, above
 * the stack pointer
 * @sp. *@ret_sp is the stack pointer of what the signal interrupted, on another stack. False: there
 * is no such frame.
 */
bool ptc_sigframe_find(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t sp,
		       uint64_t *ret_sp);

#endif
