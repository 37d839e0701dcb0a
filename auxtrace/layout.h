/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the perf.data format that are not public, and limits on what a file may claim.
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

#include "ptcap/feature.h"
#include "ptcap/record.h"

#define PTC_MAGIC_FILE2 "PERFILE2"
#define PTC_MAGIC_FILE1 "PERFFILE"

enum {
	PTC_FILE_HEADER_SIZE = 104, /* file mode */
	PTC_PIPE_HEADER_SIZE = 16,
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
#define PTC_OFF_MASK	 PTC_LIMIT_FILE /* of an offset: in its file */
#define PTC_OFF_INFLATED (UINT64_C(1) << 63)
enum { PTC_OFF_PIECE_BITS = 32 }; /* of a position in an expanded piece: where in it */

static_assert(offsetof(struct perf_event_mmap_page, data_head) == 1024, "mmap page, data part");
static_assert(offsetof(struct perf_event_mmap_page, aux_head) == 1056, "mmap page, AUX part");
static_assert(sizeof(struct perf_event_header) == PTC_REC_HEADER_SIZE, "record header");
static_assert(sizeof(struct perf_event_attr) <= PTC_ATTR_ROOM, "attr in public structures");
static_assert(offsetof(struct perf_event_attr, aux_watermark) == 104, "attr up to VER5");

#endif
