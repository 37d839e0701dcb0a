/* SPDX-License-Identifier: MIT */
/*
 * struct ptc_file: a perf.data of any form, mapped and validated. A file, a
 * file in pipe mode (perf record -o -), a folder (perf record --threads), each
 * with or without compression (-z), look the same from outside. Big-endian
 * files and the old PERFFILE are refused by name. Errors of these functions
 * name the file; those of the parsers of single records (sideband.h, pt_info.h,
 * feature.h) do not: see ptc_file_err_name.
 *
 * Offsets (struct ptc_rec's, err.off before ptc_file_err_name, and what
 * ptc_file_bytes takes) are those of the file, if it is one file without
 * compression. For the others see PTC_OFF_INFLATED in layout.h: they are unique,
 * ascend within a file, and ptc_file_place turns them into something to show.
 */
#ifndef PTC_AUXTRACE_READER_H
#define PTC_AUXTRACE_READER_H

#include <stdbool.h>

#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/feature.h"
#include "auxtrace/record.h"
#include "ptcap/error.h"

struct ptc_file;

enum ptc_file_form {
	PTC_FORM_FILE,
	PTC_FORM_PIPE,	/* attrs and features are records */
	PTC_FORM_FOLDER /* "data", and "data.N" of each thread that wrote */
};

/* One event of the recording. */
struct ptc_file_attr {
	struct perf_event_attr attr;
	bool unknown_bytes;    /* the file's attr has more than we know */
	struct ptc_cur stored; /* the attr as the file has it, attr.size bytes; lent */
	const uint64_t *ids;   /* owned by the file */
	size_t nids;
	/* Told by EVENT_UPDATE in pipe mode; lent. NULL, NULL, 0: not told. */
	const char *name, *unit;
	double scale;
};

/*
 * Open and validate the header, the attrs and the feature table. Everything
 * lent by the functions below lives until ptc_file_free. "-" is standard input.
 * What is no regular file is read to its end first, into memory or a temporary
 * file; so is what compressed records expand to (PTC_LIMIT_INFLATE_*).
 *
 * A file that was cut (a writer that was killed: data size 0) is refused, saying
 * so; in pipe mode it is known by its last record. A damaged record inside the
 * data is not looked for: ptc_file_next comes upon it.
 */
int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err);
/* The same for bytes in memory, which must outlive the file; @name is for messages. */
int ptc_file_open_bytes(const void *bytes, size_t len, const char *name, struct ptc_file **ret,
			struct ptc_err *err);
/*
 * For those who want what is left of a damaged file. What lies outside the file
 * is dropped, and the data end behind the last whole record before the first
 * damage; so ptc_file_data_off + ptc_file_data_size (ptc_file_part, of a folder)
 * is where the good data end, and ptc_file_next does not fail. A header whose
 * writer was killed (data size 0, no features yet) is made up for: the records
 * go to the end of the file, and a feature table behind them is used if it is
 * whole. The header itself and the attrs must be there.
 */
int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err);
int ptc_file_open_damaged_bytes(const void *bytes, size_t len, const char *name,
				struct ptc_file **ret, struct ptc_err *err);
/* What was wrong, the first (most telling) of it. NULL: nothing. Lent. */
const struct ptc_err *ptc_file_damage(const struct ptc_file *f);
/* The @i-th thing that was wrong; NULL: there were no more (or no more are kept). Lent. */
const struct ptc_err *ptc_file_damage_at(const struct ptc_file *f, size_t i);
void ptc_file_free(struct ptc_file *f);

/*
 * Put the file's name in front of the message of a parser's error, and the place
 * (see ptc_file_place) into its end. Once for each error. Returns err->code.
 */
int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err);

/* Of all its files together: name as opened, bytes. */
const char *ptc_file_name(const struct ptc_file *f);
uint64_t ptc_file_size(const struct ptc_file *f);
enum ptc_file_form ptc_file_form(const struct ptc_file *f);
/* It has compressed records (whatever came of them). */
bool ptc_file_compressed(const struct ptc_file *f);
/* The data section of the file, or of the first one of a folder. */
uint64_t ptc_file_data_off(const struct ptc_file *f);
uint64_t ptc_file_data_size(const struct ptc_file *f);

/* The single files: one, or a folder's "data" and its "data.N" (part N + 1). */
struct ptc_file_part {
	const char *name; /* lent */
	uint64_t size, data_off, data_size;
};
size_t ptc_file_nparts(const struct ptc_file *f);
void ptc_file_part(const struct ptc_file *f, size_t i, struct ptc_file_part *ret);

/* Where an offset is, in words that mean something outside. */
struct ptc_place {
	const char *name; /* of the single file; lent */
	uint64_t off;	  /* in it; of the compressed record, if @inflated */
	bool inflated;
	uint64_t inner; /* in the records that the compressed record gave; may be beyond them */
};
void ptc_file_place(const struct ptc_file *f, uint64_t off, struct ptc_place *ret);

size_t ptc_file_nattrs(const struct ptc_file *f);
const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i);

/*
 * The bytes of a feature bit, lent; false when the file has none. *ret_off (may
 * be NULL): the offset where they are. In pipe mode they come from
 * HEADER_FEATURE records (the last one of a bit counts), those of TRACING_DATA
 * are what follows its record, and those of BUILD_ID the HEADER_BUILD_ID records
 * one after the other (*ret_off: of the first one).
 */
bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
		      uint64_t *ret_off);

/*
 * Iterate over all records: *@pos starts at 0 and moves on. The files of a
 * folder follow each other. What follows an AUXTRACE or TRACING_DATA record and
 * belongs to it is skipped. Where a compressed record stands, the records that
 * it completes come instead of it. Returns 1, 0 at the end (it stays there), or
 * a negative code (a damaged record: iteration cannot go on).
 */
int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
		  struct ptc_err *err);
/* The same without looking into COMPRESSED and COMPRESSED2, which are given themselves. */
int ptc_file_next_stored(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			 struct ptc_err *err);

/*
 * The sample_type that a record's trailer follows, 0 if it has none: kernel
 * records of a recording whose attrs have sample_id_all. With several attrs
 * the IDENTIFIER, which is always last, tells whose it is.
 */
uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec);
/* The attr that a PERF_RECORD_SAMPLE belongs to; NULL in a file without attrs. */
const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
						 const struct ptc_rec *rec);
/* The attr that an id belongs to, or NULL. */
const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id);

/* Any @size bytes at an offset: lent. False if they are not inside. */
bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size, struct ptc_cur *ret);

/* The payload of an AUXTRACE record from ptc_file_next: lent bytes. */
int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_auxtrace *ret,
		      struct ptc_cur *ret_bytes, struct ptc_err *err);

#endif
