/* SPDX-License-Identifier: MIT */
/* Public: ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_H
#define PTC_AUXTRACE_FEATURE_FEATURE_H

#include "auxtrace/feature/feature_base.h"
#include "auxtrace/feature/feature_event.h"
#include "auxtrace/feature/feature_file.h"
#include "auxtrace/feature/feature_kernel.h"
#include "auxtrace/feature/feature_machine.h"
#include "ptcap/feature.h"

#endif
