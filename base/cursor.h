/* SPDX-License-Identifier: MIT */
/* The cursor is public; this is where the layers have it from. */
#ifndef PTC_BASE_CURSOR_H
#define PTC_BASE_CURSOR_H

#include "ptcap/cursor.h"

#endif
