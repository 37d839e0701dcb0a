/* SPDX-License-Identifier: MIT */
/* The parts of `ptcap dump`: what stands in front of the records, and one record. */
#ifndef PTC_CLI_DUMP_H
#define PTC_CLI_DUMP_H

#include "emit.h"
#include "ptcap/file.h"

/* Header, events and features. Returns 0, or the code of the first damage met; the rest is shown.
 */
int ptc_dump_front(struct ptc_emit *e, const struct ptc_file *f, struct ptc_err *err);

/*
 * The fields of a feature's section at @off; @ncpus: of NRCPUS. Those in front
 * of damage are shown. Returns 0, or the code of the damage.
 */
int ptc_dump_feature(struct ptc_emit *e, enum ptc_feature bit, struct ptc_cur c, uint64_t off,
		     uint32_t ncpus, struct ptc_err *err);

/* One line. Returns 0, or an error if the record's body makes no sense (the line says so too). */
int ptc_dump_record(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_err *err);

/* Its parts, for dump_record.c: the fields of a SAMPLE, and of a record that perf made. */
int ptc_dump_sample(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_sample_id *ret_id, struct ptc_err *err);
/* Returns 1; 0 for a type that is not perf's; or the damage. */
int ptc_dump_user(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err);

#endif
