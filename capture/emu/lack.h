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

/* The number of the call @num with the first argument @arg, which gave @ret, if QEMU lacks it; -1:
 * it does not. */
int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret);

/* Notes that QEMU lacks @call, a number, PTC_EMU_RIGHTS or PTC_EMU_INT80; -1: nothing. */
void ptc_emu_lack_note(struct ptc_emu_shared *sh, int call);

/* Writes the names of all noted calls to @out: "ptrace, seccomp, 3 more"; "" if there are none. */
void ptc_emu_lack_names(const struct ptc_emu_shared *sh, char *out, size_t size);

/*
 * The first program that is not emulated, and why, in @out: "'/bin/x' is not for 64-bit x86"; "":
 * there is none. Returns how many there are.
 */
uint64_t ptc_emu_unfollowed_text(const struct ptc_emu_shared *sh, char *out, size_t size);

#endif
