/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side records, typed: what process ran where, what it had
 * mapped, what happened to the trace. Layouts: include/uapi/linux/perf_event.h,
 * enum perf_event_type.
 */
#ifndef PTC_AUXTRACE_SIDEBAND_H
#define PTC_AUXTRACE_SIDEBAND_H

#include "auxtrace/record.h"
#include "auxtrace/sample.h"
#include "base/elfnote.h"

struct ptc_sb_mmap { /* MMAP and MMAP2 */
	int32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min; /* MMAP2 */
	uint64_t ino, ino_generation;
	uint32_t prot, flags; /* PROT_*, MAP_*; MMAP has neither: prot is then READ|EXEC, or READ if
			       * misc has PERF_RECORD_MISC_MMAP_DATA */
	struct ptc_build_id build_id; /* len 0: none. With PERF_RECORD_MISC_MMAP_BUILD_ID in misc */
	const char *filename;	      /* lent */
};

struct ptc_sb_comm {
	int32_t pid, tid;
	const char *comm; /* lent; exec if misc has PERF_RECORD_MISC_COMM_EXEC */
};

struct ptc_sb_task { /* FORK and EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct ptc_sb_aux {
	uint64_t offset, size, flags; /* PERF_AUX_FLAG_* */
};

struct ptc_sb_itrace_start {
	int32_t pid, tid;
};

struct ptc_sb_switch { /* SWITCH (next_prev_* are -1) and SWITCH_CPU_WIDE */
	int32_t next_prev_pid, next_prev_tid;
}; /* out if misc has PERF_RECORD_MISC_SWITCH_OUT */

struct ptc_sb_poke { /* TEXT_POKE: code that is not what the mapped file says, from now on */
	uint64_t addr;
	struct ptc_cur old_bytes, new_bytes; /* lent; either may be empty */
};

struct ptc_sb_lost { /* LOST; LOST_SAMPLES has no id */
	uint64_t id, lost;
};

struct ptc_sb {
	uint64_t off;  /* in the file */
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	struct ptc_sample_id id; /* has == 0 when there is no trailer */
	union {
		struct ptc_sb_mmap mmap;
		struct ptc_sb_comm comm;
		struct ptc_sb_task task;
		struct ptc_sb_aux aux;
		struct ptc_sb_itrace_start itrace_start;
		struct ptc_sb_switch sw;
		struct ptc_sb_lost lost;
		struct ptc_sb_poke poke;
	} u;
};

/*
 * Type a record of MMAP, LOST, COMM, EXIT, FORK, MMAP2, AUX, ITRACE_START,
 * LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE or TEXT_POKE. @sample_type is that of the attr it
 * belongs to, if sample_id_all is set there, else 0. Returns 1; 0 for another
 * type (ret->type, off, misc are set, nothing else); or PTC_E_FORMAT.
 * Strings and bytes are lent from the record.
 */
int ptc_sb_parse(const struct ptc_rec *rec, uint64_t sample_type, struct ptc_sb *ret,
		 struct ptc_err *err);

/*
 * Append @sb as a whole record with its trailer: the inverse of parse.
 * sb->misc is taken as is, but PERF_RECORD_MISC_MMAP_BUILD_ID is set by the
 * presence of a build-id. Bytes of a TEXT_POKE too long for a record fail @b.
 */
void ptc_sb_put(struct ptc_buf *b, const struct ptc_sb *sb, uint64_t sample_type);

#endif
