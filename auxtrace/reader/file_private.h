/* SPDX-License-Identifier: MIT */
/*
 * Internals of struct ptc_file, for the functions that fill it (reader_open.c; file_private.c;
 * pipe.c, dir_reader.c and inflate.c for the other forms) and for reader.c, which returns borrowed
 * data from it.
 */
#ifndef PTC_AUXTRACE_READER_FILE_PRIVATE_H
#define PTC_AUXTRACE_READER_FILE_PRIVATE_H

#include "auxtrace/reader/input.h"
#include "auxtrace/reader/reader.h"
#include "auxtrace/record/layout.h"

struct ptc_section {
	uint64_t off, size;
};

struct ptc_id_entry {
	uint64_t id;
	size_t attr;
};

/* One file: the whole recording, or one file of a folder. */
struct ptc_part {
	char *name;
	struct ptc_input in; /* if map and spool are empty, the caller owns the bytes */
	struct ptc_section data;
	uint64_t cut_trace; /* see ptc_file_cut_trace */
	/*
	 * Compressed records from position @bad_pos of the data on cannot be expanded. @bad is the
	 * reason, and names the file. Code 0: all can be expanded.
	 */
	uint64_t bad_pos;
	struct ptc_err bad;
};

struct ptc_feature_bytes {
	struct ptc_cur bytes;
	uint64_t off;
	bool has;
};

/*
 * The records [start, end) of the expanded data that one compressed record completes; may be empty.
 */
struct ptc_segment {
	uint64_t at; /* offset of the compressed record; ascending */
	uint64_t start, end;
};

enum { PTC_DAMAGES = 8 };

struct ptc_file {
	char *name;
	struct ptc_bundle *bundle; /* owned; has the bytes of the only part; NULL: none */
	struct ptc_part *parts;	   /* at least one */
	size_t nparts;
	unsigned int unread_parts; /* number of data.N files in a folder without DIR_FORMAT 1 */
	enum ptc_file_form form;
	struct ptc_file_attr *attrs;
	size_t nattrs;
	uint64_t *ids;		    /* of all attrs, in sequence */
	struct ptc_id_entry *by_id; /* ascending */
	size_t nids;
	struct ptc_feature_bytes features[PTC_FEATURE_BITS];
	struct ptc_buf build_ids; /* pipe mode: collected from HEADER_BUILD_ID records */
	/* Compression: the expanded data. */
	bool compressed; /* compressed records are possible: search for them */
	bool expanded;	 /* there are compressed records */
	struct ptc_spool spool;
	const uint8_t *inflated;
	uint64_t inflated_len;
	struct ptc_segment *pieces;
	size_t npieces, pieces_cap;
	/*
	 * Position of the id that selects a record's attr: words from the end of a trailer, or from
	 * the start of a SAMPLE. -1: records have no id, or all attrs have the same fields.
	 */
	int trailer_id, sample_id;
	bool tolerant;
	struct ptc_err damage[PTC_DAMAGES];
	size_t ndamage;
};

/*
 * Read and check the header of the first part. In file mode, also read the attrs with their ids,
 * and the features. In pipe mode, f->form is PTC_FORM_PIPE, and ptc_pipe_read must follow. On entry
 * @f has name, form, tolerant and one part; all else is 0.
 */
int ptc_header_read(struct ptc_file *f, struct ptc_err *err);

/* Read the table of features at offset @off. The header's bitmap selects its bits. */
int ptc_header_features(struct ptc_file *f, uint64_t off, struct ptc_err *err);

/*
 * Copy the ids of each of f->nattrs attrs, and set up the attr lookup by id. @ids: whole u64s each.
 */
int ptc_header_take_ids(struct ptc_file *f, const struct ptc_cur *ids, struct ptc_err *err);

/*
 * Report damage. @err does not have the file's name yet. Returns err->code if reading must stop.
 * Returns 0 if @f is tolerant, and reading continues with the intact part.
 */
int ptc_file_damaged(struct ptc_file *f, struct ptc_err *err);

/*
 * Read the next stored record of part @i. *@pos is an offset in its data. *@ret_trailing: bytes
 * that follow the record and belong to it. Returns 1, 0 at the end, or an error that does not name
 * the file.
 */
int ptc_part_next(const struct ptc_file *f, size_t i, uint64_t *pos, struct ptc_rec *ret,
		  uint64_t *ret_trailing, struct ptc_err *err);

/* Comparison for bsearch and qsort of by_id. */
int ptc_id_compare(const void *a, const void *b);

static inline uint64_t ptc_part_off(size_t part, uint64_t off)
{
	return (uint64_t)part << PTC_OFF_PART_SHIFT | off;
}

static inline bool ptc_rec_is_compressed(const struct ptc_rec *rec)
{
	return rec->type == PTC_REC_COMPRESSED || rec->type == PTC_REC_COMPRESSED2;
}

#endif
