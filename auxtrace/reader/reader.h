/* SPDX-License-Identifier: MIT */
/* Public: ptcap/file.h. */
#ifndef PTC_AUXTRACE_READER_READER_H
#define PTC_AUXTRACE_READER_READER_H

#include "auxtrace/feature/feature.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/record.h"
#include "ptcap/file.h"

struct ptc_bundle;

/*
 * Returns the bundle (auxtrace/bundle) that @f was read from; NULL: @f is no bundle. Lent until
 * ptc_file_free.
 */
struct ptc_bundle *ptc_file_bundle(const struct ptc_file *f);

#endif
