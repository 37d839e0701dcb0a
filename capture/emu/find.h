/* SPDX-License-Identifier: MIT */
/* Where the emulator and our plugin for it are. */
#ifndef PTC_CAPTURE_EMU_FIND_H
#define PTC_CAPTURE_EMU_FIND_H

#include <stdbool.h>

#include "base/buf.h"
#include "ptcap/error.h"

/*
 * qemu-x86_64: what PTCAP_QEMU names, else what scripts/qemu built for this build or prefix, else
 * the one in PATH. ptcap-emu.so: what PTCAP_EMU_PLUGIN names, else beside the executable or
 * libptcap, else where it was to be installed. Both malloc'ed.
 * PTC_E_UNSUPPORTED says what is missing, and how to get it.
 */
int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err);

/*
 * Does @qemu turn the order of the environment round? QEMU up to 8.0 does (linux-user/main.c). No
 * sign but the number tells, so `QEMU --version` is asked: 5 ms. False if it does not answer.
 */
bool ptc_emu_turns_env(const char *qemu);

/* Does QEMU of @version, its first line of --version, do that? */
bool ptc_emu_version_turns(const char *version);

/* @text in an option of QEMU: a comma in it is written twice. */
void ptc_emu_put_name(struct ptc_buf *b, const char *text);

/* The argument of QEMU's -plugin, without its NUL: @plugin,shm=@shm_id,how=@how */
void ptc_emu_plugin_option(struct ptc_buf *b, const char *plugin, int shm_id, const char *how);

/* @qemu has ended, and @plugin was never there: PTC_E_UNSUPPORTED. */
int ptc_emu_not_loaded(const char *qemu, const char *plugin, struct ptc_err *err);

#endif
