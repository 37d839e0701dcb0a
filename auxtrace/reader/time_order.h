/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_READER_TIME_ORDER_H
#define PTC_AUXTRACE_READER_TIME_ORDER_H

#include "auxtrace/reader/reader.h"
#include "ptcap/file.h"

/* From now on AUX records are neither sorted nor returned. They are most records of a trace. */
void ptc_order_skip_aux(struct ptc_order *o);

#endif
