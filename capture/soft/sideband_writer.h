/* SPDX-License-Identifier: MIT */
/* Writes the sideband records of a software source into its data ring, in the kernel's place. */
#ifndef PTC_CAPTURE_SOFT_SIDEBAND_WRITER_H
#define PTC_CAPTURE_SOFT_SIDEBAND_WRITER_H

#include <stdbool.h>

#include "auxtrace/record/sideband.h"
#include "base/buf.h"
#include "capture/host/clock.h"
#include "capture/host/maps.h"
#include "capture/soft/mapped_files.h"
#include "capture/soft/softring.h"

/* sample_type of a software source's events. Events with branch stacks have more bits. */
#define PTC_SOFT_SAMPLE_TYPE                                                                       \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_IDENTIFIER)

struct ptc_records {
	struct ptc_softring *ring;     /* borrowed */
	const struct ptc_clock *clock; /* borrowed */
	uint64_t pt_id, side_id;       /* ids of the PT event and of the dummy event */
	int pid, tid;		       /* subject of the records */
	uint32_t cpu;
	uint64_t newest; /* time of the newest record in ns */
	struct ptc_buf buf;
	bool no_memory; /* a record could not be built: the recording must fail */
};

void ptc_records_release(struct ptc_records *r);

/*
 * Returns the time for a record about an event at @tsc. If later records were already written,
 * returns their time, so that times in the ring never decrease. r->newest becomes that time.
 */
uint64_t ptc_records_time(struct ptc_records *r, uint64_t tsc);

void ptc_records_comm(struct ptc_records *r, const char *comm, bool exec);
/* Writes one MMAP2 for @map of @maps. @file supplies the build-id, and may be NULL. */
void ptc_records_mmap(struct ptc_records *r, const struct ptc_maps *maps, const struct ptc_map *map,
		      const struct ptc_mapped_file *file);
/* Writes TEXT_POKE records: from now on @bytes are at @addr in the process. */
void ptc_records_poke(struct ptc_records *r, uint64_t addr, const uint8_t *bytes, size_t len);
/* Writes a FORK: thread @ptid of process @ppid created r->tid of process r->pid. */
void ptc_records_fork(struct ptc_records *r, int ppid, int ptid);
void ptc_records_exit(struct ptc_records *r, int ppid);
void ptc_records_itrace_start(struct ptc_records *r);
void ptc_records_switch(struct ptc_records *r, bool out);
/*
 * Writes an AUX record for the AUX bytes [from, to). Publish these bytes after the call. In
 * overwrite mode the record has the kernel's form: the buffer offset of @to, and the buffer size.
 */
void ptc_records_aux(struct ptc_records *r, uint64_t from, uint64_t to, uint64_t flags);

#endif
