/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_ORDER_H
#define PTC_AUXTRACE_ORDER_H

#include "auxtrace/reader.h"
#include "ptcap/file.h"

#endif
