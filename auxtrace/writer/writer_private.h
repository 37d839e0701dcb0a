/* SPDX-License-Identifier: MIT */
/* Internals of ptc_writer, shared by its source files. */
#ifndef PTC_AUXTRACE_WRITER_WRITER_PRIVATE_H
#define PTC_AUXTRACE_WRITER_WRITER_PRIVATE_H

#include "auxtrace/writer/compress.h"
#include "auxtrace/writer/writer.h"
#include "base/tmpfile.h"

struct ptc_writer_event {
	struct perf_event_attr attr;
	uint8_t *stored; /* owned; the attr as stored in a file; NULL: attr and name are used */
	size_t stored_len;
	char *name;
	uint64_t *ids;
	size_t nids;
	size_t front_nids; /* ids before the data; if nids is larger, all ids are behind the data */
};

struct ptc_writer {
	struct ptc_tmpfile file;
	struct ptc_writer_opts opts;
	bool to_stdout; /* or to memory: the file has no path to be renamed to */
	struct ptc_writer_event *events;
	size_t nevents, events_cap;
	struct ptc_buf features[PTC_FEATURE_BITS];
	bool has[PTC_FEATURE_BITS];
	struct ptc_auxtrace_entry *pieces; /* entries for the AUXTRACE feature */
	size_t npieces, pieces_cap;
	uint64_t data_off; /* 0: no record yet, events may still be declared */
	uint64_t data_size;
	uint64_t late_off; /* offset of the ids that came after the data began */
	uint64_t in_file;  /* bytes written; buf follows */
	uint8_t *buf;
	size_t buf_len;
	uint64_t whole;	     /* size of the data section up to the last complete record */
	size_t whole_pieces; /* number of pieces at that point */
	int reserve;	     /* file that reserves disk space; -1: none */
	bool cut;	     /* the disk was full: no compression any more */
	struct ptc_compressor *compressor; /* NULL: records are not compressed */
	unsigned int level;
	struct ptc_writer_packed packed;
	struct ptc_buf sample; /* of ptc_writer_sample, for reuse */
	struct ptc_err failed; /* the first error, which every later call returns; code 0: none */
};

/* Append @len bytes to the file. On failure every later call fails too. */
int ptc_writer_append(struct ptc_writer *w, const void *bytes, size_t len, struct ptc_err *err);

/* Append the offset and the size of a section. */
void ptc_writer_put_section(struct ptc_buf *b, uint64_t off, uint64_t size);
/* Write everything before the data: header, ids, attrs. Its size depends on the events only. */
void ptc_writer_put_front(const struct ptc_writer *w, struct ptc_buf *b);
/* Write the contents of a file's header as records. */
int ptc_writer_put_pipe_front(struct ptc_writer *w, struct ptc_buf *b, struct ptc_err *err);

/* Set the COMPRESSED feature. */
void ptc_writer_make_compressed(struct ptc_writer *w);
/* Set the features that the writer makes itself: EVENT_DESC, AUXTRACE, COMPRESSED. */
int ptc_writer_make_features(struct ptc_writer *w, struct ptc_err *err);
/* Write a table of sections in the order of their bits, then the sections. */
int ptc_writer_write_features(struct ptc_writer *w, struct ptc_err *err);

#endif
