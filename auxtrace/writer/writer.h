/* SPDX-License-Identifier: MIT */
/* Public: ptcap/writer.h. */
#ifndef PTC_AUXTRACE_WRITER_WRITER_H
#define PTC_AUXTRACE_WRITER_WRITER_H

#include "auxtrace/feature/feature.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "ptcap/writer.h"

/*
 * As ptc_writer_new, into memory: the file has no name. *@ret_fd: its descriptor, for reading after
 * the commit. The caller closes it.
 */
int ptc_writer_new_in_memory(struct ptc_writer **ret, int *ret_fd, struct ptc_err *err);

/*
 * Set the final ids of event number @event: its declared ids, followed by those of events opened
 * later. PTC_E_UNSUPPORTED: in pipe mode, where its ids are already written.
 */
int ptc_writer_late_ids(struct ptc_writer *w, size_t event, const uint64_t *ids, size_t nids,
			struct ptc_err *err);

#endif
