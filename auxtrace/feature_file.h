/* SPDX-License-Identifier: MIT */
/*
 * Features that tell of the recording itself and of what is in it. Parsing and
 * writing as feature_base.h says.
 */
#ifndef PTC_AUXTRACE_FEATURE_FILE_H
#define PTC_AUXTRACE_FEATURE_FILE_H

#include "auxtrace/feature_base.h"
#include "base/elfnote.h"

/* CMDLINE; read with ptc_feature_open and ptc_feature_next_string. */
void ptc_feature_put_cmdline(struct ptc_buf *b, const char *const *argv, size_t n);

/* One entry of BUILD_ID: a record inside the section. */
struct ptc_build_id_entry {
	uint16_t misc; /* PERF_RECORD_MISC_USER or _KERNEL */
	int32_t pid;   /* -1: host */
	struct ptc_build_id id;
	const char *filename; /* lent */
};
void ptc_feature_put_build_id(struct ptc_buf *b, const struct ptc_build_id_entry *e);
/* Returns 1, 0 at the end, or PTC_E_FORMAT. @off is that of the section, for messages. */
int ptc_feature_next_build_id(struct ptc_cur *c, uint64_t off, struct ptc_build_id_entry *ret,
			      struct ptc_err *err);

/* AUXTRACE: where the AUXTRACE records are. */
struct ptc_auxtrace_entry {
	uint64_t off;  /* of the record in the file */
	uint64_t size; /* of the record, without the trace behind it */
};
int ptc_feature_next_auxtrace(struct ptc_feature_iter *it, struct ptc_auxtrace_entry *ret,
			      struct ptc_err *err);
void ptc_feature_put_auxtrace(struct ptc_buf *b, const struct ptc_auxtrace_entry *e, size_t n);

/* SAMPLE_TIME: of the first and the last sample. */
struct ptc_sample_time {
	uint64_t first_ns, last_ns;
};
bool ptc_feature_get_sample_time(struct ptc_cur *c, struct ptc_sample_time *ret);
void ptc_feature_put_sample_time(struct ptc_buf *b, uint64_t first_ns, uint64_t last_ns);

/* CLOCKID: the resolution of the clock that the times are of. */
bool ptc_feature_get_clockid(struct ptc_cur *c, uint64_t *ret_res_ns);
void ptc_feature_put_clockid(struct ptc_buf *b, uint64_t res_ns);

/* DIR_FORMAT: the version of the folder that the recording is. */
bool ptc_feature_get_dir_format(struct ptc_cur *c, uint64_t *ret_version);
void ptc_feature_put_dir_format(struct ptc_buf *b, uint64_t version);

/* COMPRESSED: some records are in COMPRESSED records. */
enum { PTC_COMPRESSED_VERSION = 1, PTC_COMPRESSED_ZSTD = 1 };
struct ptc_compressed {
	uint32_t version; /* PTC_COMPRESSED_VERSION */
	uint32_t type;	  /* PTC_COMPRESSED_ZSTD */
	uint32_t level;
	uint32_t ratio;	   /* bytes before to bytes behind, rounded */
	uint32_t mmap_len; /* as many bytes come out of one COMPRESSED record, at most */
};
bool ptc_feature_get_compressed(struct ptc_cur *c, struct ptc_compressed *ret);
void ptc_feature_put_compressed(struct ptc_buf *b, const struct ptc_compressed *v);

/* CLOCK_DATA: one moment, by the clock on the wall and by that of the records. */
struct ptc_clock_data {
	uint32_t version; /* 1 */
	uint32_t clockid; /* CLOCK_MONOTONIC, ... */
	uint64_t wall_ns; /* since 1970 */
	uint64_t clock_ns;
};
bool ptc_feature_get_clock_data(struct ptc_cur *c, struct ptc_clock_data *ret);
void ptc_feature_put_clock_data(struct ptc_buf *b, const struct ptc_clock_data *v);

#endif
