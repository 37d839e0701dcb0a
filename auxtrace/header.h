/* SPDX-License-Identifier: MIT */
/*
 * Inside of struct ptc_file: for those who fill it (header.c; pipe.c, folder.c,
 * inflate.c for the other forms), and reader.c, which lends from it.
 */
#ifndef PTC_AUXTRACE_HEADER_H
#define PTC_AUXTRACE_HEADER_H

#include "auxtrace/input.h"
#include "auxtrace/layout.h"
#include "auxtrace/reader.h"

struct ptc_section {
	uint64_t off, size;
};

struct ptc_id_entry {
	uint64_t id;
	size_t attr;
};

/* One file: all there is, or one of a folder. */
struct ptc_part {
	char *name;
	struct ptc_input in; /* map and spool are empty: the bytes are the caller's */
	struct ptc_section data;
	uint64_t cut_trace; /* ptc_file_cut_trace */
	/*
	 * The compressed records cannot be expanded from @bad_pos in the data on,
	 * because of @bad, which names the file; code 0: they can.
	 */
	uint64_t bad_pos;
	struct ptc_err bad;
};

struct ptc_feature_bytes {
	struct ptc_cur bytes;
	uint64_t off;
	bool has;
};

/* The records, [start, end) of what is expanded, that a compressed record completes; maybe none. */
struct ptc_piece {
	uint64_t at; /* offset of the compressed record; ascending */
	uint64_t start, end;
};

enum { PTC_DAMAGES = 8 };

struct ptc_file {
	char *name;
	struct ptc_part *parts; /* at least one */
	size_t nparts;
	unsigned int unread_parts; /* data.N of a folder that says it has none */
	enum ptc_file_form form;
	struct ptc_file_attr *attrs;
	size_t nattrs;
	uint64_t *ids;		    /* of all attrs, one after the other */
	struct ptc_id_entry *by_id; /* ascending */
	size_t nids;
	struct ptc_feature_bytes features[PTC_FEATURE_BITS];
	struct ptc_buf build_ids; /* pipe mode: collected from their records */
	/* Compression: what it expands to. */
	bool compressed; /* there may be compressed records: look for them */
	bool expanded;	 /* there are */
	struct ptc_spool spool;
	const uint8_t *inflated;
	uint64_t inflated_len;
	struct ptc_piece *pieces;
	size_t npieces, pieces_cap;
	/*
	 * Whose record is it? The id is in the word this many words from a
	 * trailer's end, or behind a SAMPLE's start; -1: cannot be told, or
	 * need not, all attrs having the same fields.
	 */
	int trailer_id, sample_id;
	bool tolerant;
	struct ptc_err damage[PTC_DAMAGES];
	size_t ndamage;
};

/*
 * Read and check the header of the first part, the attrs with their ids, and
 * the features, of a file or of pipe mode. @f has name, tolerant and one part;
 * the rest is 0.
 */
int ptc_header_read(struct ptc_file *f, struct ptc_err *err);

/* The table of features at offset @off, which @bitmap says the bits of. */
int ptc_header_features(struct ptc_file *f, uint64_t off, struct ptc_err *err);

/*
 * Take over the ids of each of f->nattrs attrs, and find out how records are
 * told apart by them. @ids: whole u64s each.
 */
int ptc_header_take_ids(struct ptc_file *f, const struct ptc_cur *ids, struct ptc_err *err);

/*
 * Something is not as it should be, and @err, without the file's name, says
 * what: a reason to stop (err->code is returned, the name not yet added), or to
 * go on with what is left (0).
 */
int ptc_file_damaged(struct ptc_file *f, struct ptc_err *err);

/*
 * One step through part @i as it is stored: *@pos is an offset in its data.
 * *@ret_trailing: bytes that follow the record and belong to it. 1, 0, or an
 * error that does not name the file.
 */
int ptc_part_next(const struct ptc_file *f, size_t i, uint64_t *pos, struct ptc_rec *ret,
		  uint64_t *ret_trailing, struct ptc_err *err);

/* For bsearch and qsort of by_id. */
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
