/* SPDX-License-Identifier: MIT */
/* The parts of `ptcap dump`: data before the records, and a single record. */
#ifndef PTC_CLI_DUMP_DUMP_H
#define PTC_CLI_DUMP_DUMP_H

#include "cli/common/field_writer.h"
#include "cli/dump/dump_filter.h"
#include "ptcap/file.h"

/*
 * Print the header, and the events and features selected by @d. Damage is skipped. Returns 0, or
 * the code of the first damage.
 */
int ptc_dump_front(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_dump_filter *d,
		   struct ptc_err *err);

/*
 * Print the location of an offset (see ptc_file_place), as text with a trailing blank, or as
 * members of an object. Forms: 0x1234; 0x1234+0x40 inside the expanded data of a compressed record;
 * data.0:0x40 in a folder.
 */
void ptc_show_place(const struct ptc_file *f, uint64_t off);
void ptc_emit_place(struct ptc_emit *e, const struct ptc_file *f, uint64_t off);

/*
 * Print the fields of a feature's section at @off, up to damage. @ncpus: from NRCPUS. Returns 0, or
 * the code of the damage.
 */
int ptc_dump_feature(struct ptc_emit *e, enum ptc_feature bit, struct ptc_cur c, uint64_t off,
		     uint32_t ncpus, struct ptc_err *err);

/*
 * Print a record as one line. Returns 0, or an error if the body is invalid, which the line also
 * shows.
 */
int ptc_dump_record(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_err *err);

/* For dump_record.c: print the fields of a SAMPLE, and of a record that perf made. */
int ptc_dump_sample(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_sample_id *ret_id, struct ptc_err *err);
/* Returns 1, 0 if the type is not one of perf's, or the code of the damage. */
int ptc_dump_user(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err);

#endif
