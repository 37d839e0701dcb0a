/* SPDX-License-Identifier: MIT */
/*
 * Records what the emulation lacks: system calls without which a program may behave differently,
 * and programs that it cannot run. Used by ptcap and by the plugin.
 */
#ifndef PTC_CAPTURE_EMU_MISSING_SYSCALLS_H
#define PTC_CAPTURE_EMU_MISSING_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

#include "capture/emu/shm_protocol.h"

/*
 * Returns the call to note if QEMU lacks the call @num with first argument @arg, which returned
 * @ret; -1: QEMU has it.
 */
int ptc_emu_lack(int64_t num, uint64_t arg, int64_t ret);

/* Notes that QEMU lacks @call: a call number, PTC_EMU_RIGHTS or PTC_EMU_INT80. -1: does nothing. */
void ptc_emu_lack_note(struct ptc_emu_shared *sh, int call);

/* Writes the names of all noted calls to @out: "ptrace, seccomp, 3 more"; "" if there are none. */
void ptc_emu_lack_names(const struct ptc_emu_shared *sh, char *out, size_t size);

/*
 * Writes to @out which program was not emulated first: "'/bin/x' is not a 64-bit x86 program".
 * Without such a program, @out is "". Returns the number of such programs.
 */
uint64_t ptc_emu_unfollowed_text(const struct ptc_emu_shared *sh, char *out, size_t size);

#endif
