/* SPDX-License-Identifier: MIT */
#ifndef PTC_TESTS_MKFEATURES_H
#define PTC_TESTS_MKFEATURES_H

#include "auxtrace/writer/writer.h"

/*
 * Writes the features that ptcap record does not write; not @all: only the features that perf
 * accepts in any file.
 */
int mkfeatures(struct ptc_writer *w, bool all, struct ptc_err *err);

#endif
