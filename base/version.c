/* SPDX-License-Identifier: MIT */
#include "ptcap/version.h"

/* CMake sets PTCAP_VERSION for this file only: a new version compiles a single file again. */
const char *ptc_version(void)
{
	return PTCAP_VERSION;
}
