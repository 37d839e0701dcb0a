/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_READER_H
#define PTC_AUXTRACE_READER_H

#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/feature.h"
#include "auxtrace/record.h"
#include "ptcap/file.h"

#endif
