/* SPDX-License-Identifier: MIT */
/* Inside of struct ptc_file: for header.c, which fills it, and reader.c, which lends from it. */
#ifndef PTC_AUXTRACE_HEADER_H
#define PTC_AUXTRACE_HEADER_H

#include "auxtrace/layout.h"
#include "auxtrace/reader.h"

struct ptc_section {
	uint64_t off, size;
};

struct ptc_id_entry {
	uint64_t id;
	size_t attr;
};

struct ptc_file {
	char *name;
	const uint8_t *base;
	size_t len;
	void *map; /* NULL: the bytes are the caller's */
	struct ptc_file_attr *attrs;
	size_t nattrs;
	uint64_t *ids;		    /* of all attrs, one after the other */
	struct ptc_id_entry *by_id; /* ascending */
	size_t nids;
	struct ptc_section data;
	struct ptc_section features[PTC_FEATURE_BITS];
	bool has[PTC_FEATURE_BITS];
	/*
	 * Whose record is it? The id is in the word this many words from a
	 * trailer's end, or behind a SAMPLE's start; -1: cannot be told, or
	 * need not, all attrs having the same fields.
	 */
	int trailer_id, sample_id;
	bool tolerant;
	struct ptc_err damage; /* code 0: none */
};

/*
 * Read and check the file header, the attrs with their ids, and the table of
 * features. @f has name, base, len and tolerant; the rest is 0.
 */
int ptc_header_read(struct ptc_file *f, struct ptc_err *err);

/* For bsearch and qsort of by_id. */
int ptc_id_compare(const void *a, const void *b);

#endif
