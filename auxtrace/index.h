/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_INDEX_H
#define PTC_AUXTRACE_INDEX_H

#include "auxtrace/reader.h"
#include "ptcap/file.h"

#endif
