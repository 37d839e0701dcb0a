/* SPDX-License-Identifier: MIT */
/* Public: ptcap/writer.h. */
#ifndef PTC_AUXTRACE_WRITER_H
#define PTC_AUXTRACE_WRITER_H

#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/feature.h"
#include "ptcap/writer.h"

#endif
