/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the perf.data format and limits on what a file may claim.
 * Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * tools/lib/perf/include/perf/event.h, tools/perf/util/header.h,
 * include/uapi/linux/perf_event.h (vendored).
 */
#ifndef PTC_AUXTRACE_LAYOUT_H
#define PTC_AUXTRACE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#define PTC_MAGIC_FILE2 "PERFILE2"
#define PTC_MAGIC_FILE1 "PERFFILE"

enum {
	PTC_FILE_HEADER_SIZE = 104, /* file mode */
	PTC_PIPE_HEADER_SIZE = 16,
	PTC_REC_HEADER_SIZE = 8, /* u32 type, u16 misc, u16 size */
	PTC_REC_MAX = 65528,	 /* size is u16 and a multiple of 8 */
	PTC_FEATURE_BITS = 256,
};

/* Records that perf itself makes: event.h, enum perf_user_event_type. */
enum {
	PTC_REC_USER_START = 64,
	PTC_REC_HEADER_ATTR = 64,
	PTC_REC_HEADER_EVENT_TYPE = 65,
	PTC_REC_HEADER_TRACING_DATA = 66,
	PTC_REC_HEADER_BUILD_ID = 67,
	PTC_REC_FINISHED_ROUND = 68,
	PTC_REC_ID_INDEX = 69,
	PTC_REC_AUXTRACE_INFO = 70,
	PTC_REC_AUXTRACE = 71,
	PTC_REC_AUXTRACE_ERROR = 72,
	PTC_REC_THREAD_MAP = 73,
	PTC_REC_CPU_MAP = 74,
	PTC_REC_STAT_CONFIG = 75,
	PTC_REC_STAT = 76,
	PTC_REC_STAT_ROUND = 77,
	PTC_REC_EVENT_UPDATE = 78,
	PTC_REC_TIME_CONV = 79,
	PTC_REC_HEADER_FEATURE = 80,
	PTC_REC_COMPRESSED = 81,
	PTC_REC_FINISHED_INIT = 82,
	PTC_REC_COMPRESSED2 = 83,
	PTC_REC_BPF_METADATA = 84,
	PTC_REC_SCHEDSTAT_CPU = 85,
	PTC_REC_SCHEDSTAT_DOMAIN = 86,
};

/* Header features: header.h, enum. */
enum ptc_feature {
	PTC_FEAT_TRACING_DATA = 1,
	PTC_FEAT_BUILD_ID = 2,
	PTC_FEAT_HOSTNAME = 3,
	PTC_FEAT_OSRELEASE = 4,
	PTC_FEAT_VERSION = 5,
	PTC_FEAT_ARCH = 6,
	PTC_FEAT_NRCPUS = 7,
	PTC_FEAT_CPUDESC = 8,
	PTC_FEAT_CPUID = 9,
	PTC_FEAT_TOTAL_MEM = 10,
	PTC_FEAT_CMDLINE = 11,
	PTC_FEAT_EVENT_DESC = 12,
	PTC_FEAT_CPU_TOPOLOGY = 13,
	PTC_FEAT_NUMA_TOPOLOGY = 14,
	PTC_FEAT_BRANCH_STACK = 15,
	PTC_FEAT_PMU_MAPPINGS = 16,
	PTC_FEAT_GROUP_DESC = 17,
	PTC_FEAT_AUXTRACE = 18,
	PTC_FEAT_STAT = 19,
	PTC_FEAT_CACHE = 20,
	PTC_FEAT_SAMPLE_TIME = 21,
	PTC_FEAT_MEM_TOPOLOGY = 22,
	PTC_FEAT_CLOCKID = 23,
	PTC_FEAT_DIR_FORMAT = 24,
	PTC_FEAT_BPF_PROG_INFO = 25,
	PTC_FEAT_BPF_BTF = 26,
	PTC_FEAT_COMPRESSED = 27,
	PTC_FEAT_CPU_PMU_CAPS = 28,
	PTC_FEAT_CLOCK_DATA = 29,
	PTC_FEAT_HYBRID_TOPOLOGY = 30,
	PTC_FEAT_PMU_CAPS = 31,
	PTC_FEAT_CPU_DOMAIN_INFO = 32,
};

/* What a file may ask us to allocate. */
#define PTC_LIMIT_ATTRS	     4096u
#define PTC_LIMIT_IDS	     (1u << 20)
#define PTC_LIMIT_ATTR	     4096u /* bytes of an attr that is written; the kernel's own limit */
#define PTC_LIMIT_FEATURE    (1ull << 30) /* bytes of one feature section */
#define PTC_LIMIT_AUX_CHUNKS (1u << 24)
#define PTC_LIMIT_QUEUES     65536u
#define PTC_LIMIT_PARTS	     4096u	  /* files data.N of a folder */
#define PTC_LIMIT_BUILD_IDS  (1ull << 28) /* bytes of HEADER_BUILD_ID records in pipe mode */

/*
 * What compressed records may expand to: RATIO times their bytes, and FREE bytes
 * on top; ALL in any case. (perf's own come to 5 to 50 times.)
 */
#define PTC_LIMIT_INFLATE_RATIO 256u
#define PTC_LIMIT_INFLATE_FREE	(1ull << 24)
#define PTC_LIMIT_INFLATE_ALL	(1ull << 36)

/*
 * One offset says where anything of a recording is: bits 0..47 are the offset in
 * a file, bits 48..62 which file (0: the only one, or the folder's "data"; N + 1:
 * its "data.N"). With bit 63 the rest is an offset in what compressed records
 * expand to. See ptc_file_place.
 */
enum { PTC_OFF_PART_SHIFT = 48 };
#define PTC_LIMIT_FILE	 ((UINT64_C(1) << PTC_OFF_PART_SHIFT) - 1)
#define PTC_OFF_INFLATED (UINT64_C(1) << 63)

static_assert(offsetof(struct perf_event_mmap_page, data_head) == 1024, "mmap page, data part");
static_assert(offsetof(struct perf_event_mmap_page, aux_head) == 1056, "mmap page, AUX part");
static_assert(sizeof(struct perf_event_header) == PTC_REC_HEADER_SIZE, "record header");
static_assert(offsetof(struct perf_event_attr, aux_watermark) == 104, "attr up to VER5");

#endif
