/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_READER_READER_H
#define PTC_AUXTRACE_READER_READER_H

#include "auxtrace/feature/feature.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/record.h"
#include "ptcap/file.h"

#endif
