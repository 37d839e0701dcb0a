/* SPDX-License-Identifier: MIT */
/*
 * Builds perf.data files in memory, by hand and not with the writer under test. Out of memory
 * aborts.
 */
#ifndef PTC_TESTS_LIB_PERFDATA_H
#define PTC_TESTS_LIB_PERFDATA_H

#include <stddef.h>
#include <stdint.h>

#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/auxtrace_rec.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sideband.h"
#include "base/buf.h"

enum { PD_ATTRS = 8, PD_IDS = 8 };

/* Values that pd_init_pt uses. */
#define PD_PMU_TYPE 8u
#define PD_SAMPLE_TYPE                                                                             \
	((uint64_t)(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |        \
		    PERF_SAMPLE_IDENTIFIER))
#define PD_ID_PT    100u
#define PD_ID_DUMMY 200u

struct pd {
	struct ptc_buf data; /* records; tests may append to it */
	struct ptc_buf features[PTC_FEATURE_BITS];
	bool has[PTC_FEATURE_BITS];
	struct {
		struct perf_event_attr attr;
		uint64_t ids[PD_IDS];
		size_t nids;
	} attrs[PD_ATTRS];
	size_t nattrs;
	uint32_t attr_size; /* 128; tests with other sizes set it */
};

void pd_init(struct pd *p);
void pd_release(struct pd *p);

void pd_attr(struct pd *p, const struct perf_event_attr *attr, const uint64_t *ids, size_t nids);

/*
 * Starts a recording like ours: an intel_pt event (type PD_PMU_TYPE, id PD_ID_PT, TSC and MTC on,
 * user only) and a dummy event for the sideband (id PD_ID_DUMMY). Both have PD_SAMPLE_TYPE in every
 * record. Then come TIME_CONV and AUXTRACE_INFO. @tc NULL: no usable clock.
 */
void pd_init_pt(struct pd *p, const struct ptc_time_conv *tc);

/*
 * Append a sideband record. Its trailer follows PD_SAMPLE_TYPE, with @time and an id of the dummy.
 */
void pd_sb(struct pd *p, const struct ptc_sb *sb);
void pd_comm(struct pd *p, int32_t tid, uint64_t time, const char *comm, bool exec);
void pd_mmap2(struct pd *p, int32_t tid, uint64_t time, uint64_t addr, uint64_t len, uint64_t pgoff,
	      const char *filename);
void pd_itrace_start(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time);
void pd_switch(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time, bool out);
void pd_aux(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time, uint64_t offset, uint64_t size,
	    uint64_t flags);
void pd_task(struct pd *p, uint32_t type, int32_t pid, int32_t tid, int32_t ppid, uint64_t time);

/* Appends a TEXT_POKE of process @pid: @bytes are now at @addr. */
void pd_poke(struct pd *p, int32_t pid, uint64_t time, uint64_t addr, const void *bytes,
	     size_t len);

/* Appends a bare record of any type; @len is padded to 8. */
void pd_raw(struct pd *p, uint32_t type, uint16_t misc, const void *body, size_t len);

/* Appends an AUXTRACE record and its payload (size is taken from @len, padded with 0 to 8). */
void pd_auxtrace(struct pd *p, const struct ptc_auxtrace *a, const void *bytes, size_t len);

void pd_feature(struct pd *p, unsigned int bit, const void *bytes, size_t len);

/*
 * Returns the finished file in an allocation of exactly *@ret_len bytes, so that a sanitizer sees
 * each overread. Caller frees it. @p stays usable.
 */
uint8_t *pd_finish(const struct pd *p, size_t *ret_len);

/* Returns a copy of the first @len bytes, in an allocation of exactly that size. */
uint8_t *pd_exact(const void *bytes, size_t len);

/* Calls @look with @bytes once for each value of each damaged byte, then restores the byte. */
void pd_each_damage(uint8_t *bytes, size_t len, void (*look)(const uint8_t *bytes, size_t len));

/* Writes the file to @path. */
void pd_write(const struct pd *p, const char *path);

#endif
