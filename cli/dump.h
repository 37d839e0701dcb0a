/* SPDX-License-Identifier: MIT */
/* The parts of `ptcap dump`: what stands in front of the records, and one record. */
#ifndef PTC_CLI_DUMP_H
#define PTC_CLI_DUMP_H

#include "dump_filter.h"
#include "emit.h"
#include "ptcap/file.h"

/*
 * Header, and the events and features that @d lets through. Returns 0, or the
 * code of the first damage met; the rest is shown.
 */
int ptc_dump_front(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_dump_filter *d,
		   struct ptc_err *err);

/*
 * Where an offset (see ptc_file_place) is, as text with a blank behind it, and
 * as members of an object: 0x1234; 0x1234+0x40, in what the compressed record
 * there expands to; data.0:0x40, of a folder.
 */
void ptc_show_place(const struct ptc_file *f, uint64_t off);
void ptc_emit_place(struct ptc_emit *e, const struct ptc_file *f, uint64_t off);

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
