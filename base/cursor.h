/* SPDX-License-Identifier: MIT */
/* Includes the public cursor header, for use by all layers. */
#ifndef PTC_BASE_CURSOR_H
#define PTC_BASE_CURSOR_H

#include "ptcap/cursor.h"

#endif
