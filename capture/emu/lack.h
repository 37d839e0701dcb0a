/* SPDX-License-Identifier: MIT */
/*
 * What the emulation lacks: system calls without which a program may do something else than it does
 * alone, and programs that it cannot follow. Used by ptcap and by the plugin.
 */
#ifndef PTC_CAPTURE_EMU_LACK_H
#define PTC_CAPTURE_EMU_LACK_H

#include <stddef.h>
#include <stdint.h>

#include "capture/emu/wire.h"

/* A bit for the call @num with the first argument @arg, which gave @ret; 0: nothing is lacking. */
unsigned int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret);

/* The names of @bits: "ptrace, seccomp"; "": none. */
void ptc_emu_lack_names(unsigned int bits, char *out, size_t size);

/*
 * The first program that is not emulated, and why, in @out: "'/bin/x' is not for 64-bit x86"; "":
 * there is none. Returns how many there are.
 */
uint64_t ptc_emu_unfollowed_text(const struct ptc_emu_shared *sh, char *out, size_t size);

#endif
