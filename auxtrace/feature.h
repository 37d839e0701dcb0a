/* SPDX-License-Identifier: MIT */
/*
 * Header feature sections: header.c of tools/perf. Strings are u32 length
 * (padded) and bytes. The getters take from the front of a section's bytes.
 */
#ifndef PTC_AUXTRACE_FEATURE_H
#define PTC_AUXTRACE_FEATURE_H

#include <stdbool.h>

#include "auxtrace/layout.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/elfnote.h"
#include "ptcap/error.h"

/* "HOSTNAME", ...; NULL for a bit we do not know. */
const char *ptc_feature_name(unsigned int bit);

/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID. */
void ptc_feature_put_string(struct ptc_buf *b, const char *s);
bool ptc_feature_get_string(struct ptc_cur *c, const char **ret);

void ptc_feature_put_nrcpus(struct ptc_buf *b, uint32_t avail, uint32_t online);
void ptc_feature_put_total_mem(struct ptc_buf *b, uint64_t kib);
void ptc_feature_put_cmdline(struct ptc_buf *b, const char *const *argv, size_t n);
void ptc_feature_put_sample_time(struct ptc_buf *b, uint64_t first_ns, uint64_t last_ns);

struct ptc_event_desc {
	const struct perf_event_attr *attr;
	const char *name;
	const uint64_t *ids;
	size_t nids;
};
void ptc_feature_put_event_desc(struct ptc_buf *b, const struct ptc_event_desc *d, size_t n);

/* Reading EVENT_DESC: an iterator over a section, whose bytes must outlive it. */
struct ptc_event_desc_iter {
	struct ptc_cur cur;
	uint64_t off; /* of the section, for messages */
	uint32_t left, attr_size;
};
struct ptc_event_desc_entry {
	struct perf_event_attr attr;
	const char *name;   /* lent */
	struct ptc_cur ids; /* lent; u64 each */
};
int ptc_feature_open_event_desc(struct ptc_cur section, uint64_t off,
				struct ptc_event_desc_iter *ret, struct ptc_err *err);
/* Returns 1, 0 at the end, or PTC_E_FORMAT. */
int ptc_feature_next_event_desc(struct ptc_event_desc_iter *it, struct ptc_event_desc_entry *ret,
				struct ptc_err *err);

struct ptc_pmu_mapping {
	uint32_t type;
	const char *name;
};
void ptc_feature_put_pmu_mappings(struct ptc_buf *b, const struct ptc_pmu_mapping *m, size_t n);

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

#endif
