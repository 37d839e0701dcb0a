/* SPDX-License-Identifier: MIT */
/*
 * System calls without which a program may do something else than it does alone,
 * and which QEMU's user mode does not have. Used by ptcap and by the plugin.
 */
#ifndef PTC_CAPTURE_EMU_LACK_H
#define PTC_CAPTURE_EMU_LACK_H

#include <stddef.h>
#include <stdint.h>

/* A bit for the call @num with the first argument @arg, which gave @ret; 0: nothing is lacking. */
unsigned int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret);

/* The names of @bits: "ptrace, seccomp"; "": none. */
void ptc_emu_lack_names(unsigned int bits, char *out, size_t size);

#endif
