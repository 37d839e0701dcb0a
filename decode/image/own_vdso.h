/* SPDX-License-Identifier: MIT */
/* The vdso of the running process. */
#ifndef PTC_DECODE_IMAGE_OWN_VDSO_H
#define PTC_DECODE_IMAGE_OWN_VDSO_H

#include <stddef.h>
#include <stdint.h>

/* Returns the vdso, valid as long as the process lives. NULL: there is none. */
const uint8_t *ptc_vdso_self(size_t *ret_len);

#endif
