/* SPDX-License-Identifier: MIT */
/* Checks of the programs and folders that a recording needs: QEMU, its plugin, the disk. */
#ifndef PTC_CAPTURE_DOCTOR_PROGRAMS_H
#define PTC_CAPTURE_DOCTOR_PROGRAMS_H

#include <stdbool.h>

#include "capture/doctor/check.h"

/*
 * Returns the command that installs a QEMU with plugins on the distribution of @os_release, the
 * text of os-release(5). Debian 13's package has no plugins, so scripts/qemu builds one.
 */
const char *ptc_qemu_remedy(const char *os_release);

/*
 * Runs QEMU with ptcap's plugin for some milliseconds. Returns true if the emulated source works.
 */
bool ptc_check_emu(struct ptc_check *c);

/*
 * Checks the free space of @folder. Unless @quick, writes some megabytes into a file without a name
 * there, to measure the speed.
 */
void ptc_check_disk(const char *folder, bool quick, struct ptc_check *c);

#endif
