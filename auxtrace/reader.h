/* SPDX-License-Identifier: MIT */
/*
 * struct ptc_file: a perf.data, mapped and validated. File mode only as yet;
 * pipe mode, directory mode, big-endian files and the old PERFFILE are refused
 * by name. Errors of these functions name the file; those of the parsers of
 * single records (sideband.h, pt_info.h, feature.h) do not: see
 * ptc_file_err_name.
 */
#ifndef PTC_AUXTRACE_READER_H
#define PTC_AUXTRACE_READER_H

#include <stdbool.h>

#include "auxtrace/auxtrace_rec.h"
#include "auxtrace/feature.h"
#include "auxtrace/record.h"
#include "ptcap/error.h"

struct ptc_file;

/* One event of the recording. */
struct ptc_file_attr {
	struct perf_event_attr attr;
	bool unknown_bytes;  /* the file's attr has more than we know */
	const uint64_t *ids; /* owned by the file */
	size_t nids;
};

/*
 * Open and validate the header, the attrs and the feature table. Everything
 * lent by the functions below lives until ptc_file_free. A file that was cut
 * (a writer that was killed: data size 0) is refused, saying so.
 */
int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err);
/* The same for bytes in memory, which must outlive the file; @name is for messages. */
int ptc_file_open_bytes(const void *bytes, size_t len, const char *name, struct ptc_file **ret,
			struct ptc_err *err);
/*
 * For those who want to see what is left of a damaged file: what lies outside
 * the file is dropped, and ptc_file_damage tells what the first such thing was.
 * Header and attrs must be whole all the same.
 */
int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err);
/* NULL: none. Lent. */
const struct ptc_err *ptc_file_damage(const struct ptc_file *f);
void ptc_file_free(struct ptc_file *f);

/* Put the file's name in front of the message of a parser's error. Returns err->code. */
int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err);

const char *ptc_file_name(const struct ptc_file *f);
uint64_t ptc_file_size(const struct ptc_file *f);
uint64_t ptc_file_data_off(const struct ptc_file *f);
uint64_t ptc_file_data_size(const struct ptc_file *f);

size_t ptc_file_nattrs(const struct ptc_file *f);
const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i);

/* The section of a feature bit; false when the file has none. *ret_off (may be NULL): its offset.
 */
bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
		      uint64_t *ret_off);

/*
 * Iterate over the data section: *@pos starts at 0 and moves on. AUXTRACE
 * payloads are skipped. Returns 1, 0 at the end, or a negative code (a damaged
 * record: iteration cannot go on).
 */
int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
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

/* Any @size bytes of the file: lent. False if they are not inside. */
bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size, struct ptc_cur *ret);

/* The payload of an AUXTRACE record from ptc_file_next: lent bytes. */
int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_auxtrace *ret,
		      struct ptc_cur *ret_bytes, struct ptc_err *err);

#endif
