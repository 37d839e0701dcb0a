/* SPDX-License-Identifier: MIT */
/* Whether a recording is one for the emulated source; nothing of the command is run. */
#ifndef PTC_CAPTURE_EMU_FITS_H
#define PTC_CAPTURE_EMU_FITS_H

#include "ptcap/capture.h"

/*
 * What @opts asks for that the emulated source does not do: "count steps (--max-steps)".
 * NULL: nothing. Static.
 */
const char *ptc_emu_cannot(const struct ptc_record_opts *opts);

/*
 * 0 if the emulated source can take the command of @opts, on this machine; else a
 * code, and why not in @err. QEMU is started once, to see if it loads our plugin
 * and if that reaches our memory; it ends there, after some milliseconds.
 */
int ptc_emu_fits(const struct ptc_record_opts *opts, struct ptc_err *err);

#endif
