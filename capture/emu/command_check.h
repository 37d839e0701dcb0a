/* SPDX-License-Identifier: MIT */
/* Checks whether the emulated source can make a recording. The command itself is not run. */
#ifndef PTC_CAPTURE_EMU_COMMAND_CHECK_H
#define PTC_CAPTURE_EMU_COMMAND_CHECK_H

#include "ptcap/capture.h"

/*
 * Returns the requirement in @opts that the emulated source lacks, such as "count steps
 * (--max-steps)", as a static string. NULL: none.
 */
const char *ptc_emu_cannot(const struct ptc_record_opts *opts);

/*
 * Returns 0 if the emulated source can run the command of @opts on this machine; else an error with
 * the reason. QEMU is started once, to check that it loads our plugin and that the plugin reaches
 * our memory. It ends after some milliseconds.
 */
int ptc_emu_fits(const struct ptc_record_opts *opts, struct ptc_err *err);

#endif
