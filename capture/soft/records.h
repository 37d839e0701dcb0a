/* SPDX-License-Identifier: MIT */
/* The side records a software source writes, in the kernel's part, into its data ring. */
#ifndef PTC_CAPTURE_SOFT_RECORDS_H
#define PTC_CAPTURE_SOFT_RECORDS_H

#include <stdbool.h>

#include "auxtrace/sideband.h"
#include "base/buf.h"
#include "capture/clock.h"
#include "capture/maps.h"
#include "capture/soft/mapped.h"
#include "capture/soft/softring.h"

/* sample_type of the events of a software source; of branch stacks there is more. */
#define PTC_SOFT_SAMPLE_TYPE                                                                       \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_IDENTIFIER)

struct ptc_records {
	struct ptc_softring *ring;     /* lent */
	const struct ptc_clock *clock; /* lent */
	uint64_t pt_id, side_id;       /* ids of the PT event and of the dummy */
	int pid, tid;		       /* whom the records are about */
	uint32_t cpu;
	uint64_t newest; /* time of the record that was written last, in ns */
	struct ptc_buf buf;
	bool no_memory; /* a record could not be built: the recording must fail */
};

void ptc_records_release(struct ptc_records *r);

/*
 * The time of a record about what was done at @tsc, when others may have been written since:
 * theirs, then, so that times ascend in the ring. That record is the newest.
 */
uint64_t ptc_records_time(struct ptc_records *r, uint64_t tsc);

void ptc_records_comm(struct ptc_records *r, const char *comm, bool exec);
/* One MMAP2 for @map of @maps, with the build-id of @file, if that is there (may be NULL) and has
 * one. */
void ptc_records_mmap(struct ptc_records *r, const struct ptc_maps *maps, const struct ptc_map *map,
		      const struct ptc_mapped_file *file);
/* From now on @bytes are at @addr of the process: TEXT_POKEs, as many as are needed. */
void ptc_records_poke(struct ptc_records *r, uint64_t addr, const uint8_t *bytes, size_t len);
/* r->tid of process r->pid was made by thread @ptid of process @ppid. */
void ptc_records_fork(struct ptc_records *r, int ppid, int ptid);
void ptc_records_exit(struct ptc_records *r, int ppid);
void ptc_records_itrace_start(struct ptc_records *r);
void ptc_records_switch(struct ptc_records *r, bool out);
/*
 * AUX bytes [from, to) are there; publish them afterwards. Of an AUX ring in overwrite mode
 * the record says what the kernel's does: where in the buffer @to is, and the buffer's size.
 */
void ptc_records_aux(struct ptc_records *r, uint64_t from, uint64_t to, uint64_t flags);

#endif
