/* SPDX-License-Identifier: MIT */
/* Version of libptcap. */
#ifndef PTCAP_VERSION_H
#define PTCAP_VERSION_H

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the version of the library that runs, "MAJOR.MINOR.PATCH" in decimal. The text is static.
 * Before version 1.0 each MINOR may change functions and structures. Thread-safe.
 */
PTC_API const char *ptc_version(void);

#ifdef __cplusplus
}
#endif
#endif
