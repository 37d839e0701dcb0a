/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_READER_TIME_ORDER_H
#define PTC_AUXTRACE_READER_TIME_ORDER_H

#include "auxtrace/reader/reader.h"
#include "ptcap/file.h"

#endif
