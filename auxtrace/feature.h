/* SPDX-License-Identifier: MIT */
/* Public: ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_H
#define PTC_AUXTRACE_FEATURE_H

#include "auxtrace/feature_base.h"
#include "auxtrace/feature_event.h"
#include "auxtrace/feature_file.h"
#include "auxtrace/feature_kernel.h"
#include "auxtrace/feature_machine.h"
#include "ptcap/feature.h"

#endif
