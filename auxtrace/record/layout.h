/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the perf.data format that are not public, and limits on what a file may claim.
 * Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * tools/lib/perf/include/perf/event.h, tools/perf/util/header.h,
 * include/uapi/linux/perf_event.h (vendored).
 */
#ifndef PTC_AUXTRACE_RECORD_LAYOUT_H
#define PTC_AUXTRACE_RECORD_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/feature.h"
#include "ptcap/record.h"

#define PTC_MAGIC_FILE2 "PERFILE2"
#define PTC_MAGIC_FILE1 "PERFFILE"

enum { PTC_PIPE_HEADER_SIZE = 16 }; /* of a file: PTC_FILE_HEADER_SIZE */

/* Limits on what a file can make ptcap allocate. */
#define PTC_LIMIT_ATTRS	     4096u
#define PTC_LIMIT_IDS	     (1u << 20)
#define PTC_LIMIT_ATTR	     4096u /* bytes of an attr that is written; also the kernel's limit */
#define PTC_LIMIT_FEATURE    (1ull << 30) /* bytes of one feature section */
#define PTC_LIMIT_AUX_CHUNKS (1u << 24)
#define PTC_LIMIT_QUEUES     65536u
#define PTC_LIMIT_PARTS	     4096u	  /* files data.N of a folder */
#define PTC_LIMIT_BUILD_IDS  (1ull << 28) /* bytes of HEADER_BUILD_ID records in pipe mode */

/*
 * Limits of the expanded size of compressed records: RATIO times their bytes plus FREE bytes, and
 * never more than ALL. (perf's records expand to 5 to 50 times their size.)
 */
#define PTC_LIMIT_INFLATE_RATIO 256u
#define PTC_LIMIT_INFLATE_FREE	(1ull << 24)
#define PTC_LIMIT_INFLATE_ALL	(1ull << 36)

/*
 * Layout of an offset: bits 0..47 are the offset in a file. Bits 48..62 are the number of the file:
 * 0 for the only file or the folder's "data", N + 1 for its "data.N". If bit 63 is set, bits 0..62
 * are an offset in the expanded data of compressed records. See ptc_file_place.
 */
enum { PTC_OFF_PART_SHIFT = 48 };
#define PTC_LIMIT_FILE	 ((UINT64_C(1) << PTC_OFF_PART_SHIFT) - 1)
#define PTC_OFF_MASK	 PTC_LIMIT_FILE /* mask for the offset in its file */
#define PTC_OFF_INFLATED (UINT64_C(1) << 63)
enum { PTC_OFF_PIECE_BITS = 32 }; /* bits for the offset inside an expanded piece */

static_assert(offsetof(struct perf_event_mmap_page, data_head) == 1024, "mmap page, data part");
static_assert(offsetof(struct perf_event_mmap_page, aux_head) == 1056, "mmap page, AUX part");
static_assert(sizeof(struct perf_event_header) == PTC_REC_HEADER_SIZE, "record header");
static_assert(sizeof(struct perf_event_attr) <= PTC_ATTR_ROOM, "attr in public structures");
static_assert(offsetof(struct perf_event_attr, aux_watermark) == 104, "attr up to VER5");

#endif
