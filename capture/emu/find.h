/* SPDX-License-Identifier: MIT */
/* Where the emulator and our plugin for it are. */
#ifndef PTC_CAPTURE_EMU_FIND_H
#define PTC_CAPTURE_EMU_FIND_H

#include "ptcap/error.h"

/*
 * qemu-x86_64 in PATH, and ptcap-emu.so: what PTCAP_EMU_PLUGIN names, else beside
 * the executable or libptcap, else where it was to be installed. Both malloc'ed.
 * PTC_E_UNSUPPORTED says what is missing, and how to get it.
 */
int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err);

#endif
