/* SPDX-License-Identifier: MIT */
/* Finds the emulator and our plugin for it. */
#ifndef PTC_CAPTURE_EMU_QEMU_LOCATE_H
#define PTC_CAPTURE_EMU_QEMU_LOCATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "ptcap/error.h"

/*
 * Finds both files. qemu-x86_64: the value of PTCAP_QEMU, else the one that scripts/qemu built for
 * this build or prefix, else the one in PATH. ptcap-emu.so: the value of PTCAP_EMU_PLUGIN, else the
 * one beside the executable or libptcap, else the one of their prefix. The prefix may have been
 * moved since the installation. Files of a prefix are used only if no stranger can replace them
 * (capture/host/own_file.h). Caller frees both paths. PTC_E_UNSUPPORTED names the missing or
 * refused file, and how to get it.
 */
int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err);

/* Does ptc_emu_find() find QEMU? The plugin does not matter. */
bool ptc_emu_has_qemu(void);

/*
 * Returns true if @qemu reverses the order of the environment. QEMU up to 8.0 does
 * (linux-user/main.c). Only the version number tells, so `QEMU --version` is run, which takes 5 ms.
 * Returns false if it does not answer.
 */
bool ptc_emu_turns_env(const char *qemu);

/* Same, for the first line of --version in @version. */
bool ptc_emu_version_turns(const char *version);

/* Appends @text for an option of QEMU: a comma is written twice. */
void ptc_emu_put_name(struct ptc_buf *b, const char *text);

/* Appends the argument of QEMU's -plugin, without its NUL: @plugin,shm=@shm_id,how=@how */
void ptc_emu_plugin_option(struct ptc_buf *b, const char *plugin, int shm_id, const char *how);

/* Builds the error for a @qemu that has ended without loading @plugin: PTC_E_UNSUPPORTED. */
int ptc_emu_not_loaded(const char *qemu, const char *plugin, struct ptc_err *err);

#endif
