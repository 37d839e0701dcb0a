/* SPDX-License-Identifier: MIT */
/* What `ptcap info` tells: gathered in one pass, then printed as text or JSON. */
#ifndef PTC_CLI_INFO_H
#define PTC_CLI_INFO_H

#include "ledger.h"
#include "ptcap/crash.h"
#include "ptcap/decode.h"
#include "ptcap/file.h"
#include "verdict.h"

enum { PTC_INFO_TYPES = 128 }; /* record types counted by name; others together */
/* Bytes of trace that are replayed for a verdict. */
#define PTC_INFO_JUDGED ((uint64_t)64 << 20)

struct ptc_info {
	const struct ptc_file *file; /* lent; strings below are lent from it */
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid; /* NULL: not told */
	struct ptc_nrcpus cpus;
	uint32_t packages, cores, numa_nodes; /* 0: not told */
	uint64_t total_mem_kib;
	bool has_compressed, has_clock;
	int64_t modified_s; /* of the file, since 1970; 0: not known (standard input) */
	struct ptc_compressed compressed;
	struct ptc_clock_data clock;
	uint64_t first_ns, last_ns; /* both 0: no time in the file */
	bool has_pt;
	struct ptc_pt_info pt;
	struct ptc_index index; /* owned */
	uint64_t records, unknown;
	uint64_t by_type[PTC_INFO_TYPES];
	uint64_t code_bytes;			/* in the program's TEXT_POKEs */
	uint64_t lost_events;			/* what LOST and LOST_SAMPLES count */
	uint64_t truncated, partial, collision; /* AUX records with these flags */
	struct ptc_ledger_list ledger;		/* owned */
	uint64_t crashes;			/* fatal signals whose state was saved */
	struct ptc_crash_signal crash;		/* the newest of them */
	uint64_t crash_cut;			/* bytes of its memory that were too many to keep */
	struct ptc_decode
		*survey; /* owned; which files of the recording are here; NULL: not known */
	size_t files;	 /* how many it names */
	struct ptc_err survey_err;  /* why there is no survey; code 0: no Intel PT */
	bool has_verdict;	    /* of snapshots, if there is not too much trace */
	struct ptc_verdict verdict; /* owned */
};

/* Start with a zeroed @ret; release it whether this fails or not. Errors name the file. */
int ptc_info_gather(const struct ptc_file *f, struct ptc_info *ret, struct ptc_err *err);
/* Look which of the files it names are here. What cannot be decoded at all can be told of still. */
void ptc_info_survey(const char *path, struct ptc_info *i);
/* Of snapshots: what they have of each thread. */
void ptc_info_judge(const char *path, struct ptc_info *i);
void ptc_info_release(struct ptc_info *info);
/* What the survey says besides: what would be assumed. Begin with *i 0. NULL: no more. */
const char *ptc_info_next_note(const struct ptc_info *info, size_t *i);

/*
 * What is not worth a copy: a feature's entries; none where the file has no such
 * feature. Where it is broken the iterator says so (dump tells it all).
 */
struct ptc_feature_iter ptc_info_list(const struct ptc_info *info, enum ptc_feature bit);
/* NULL: not told. */
const char *ptc_info_event_name(const struct ptc_info *info, size_t i);
const char *ptc_info_pmu_name(const struct ptc_info *info, uint32_t type);

void ptc_info_text(const struct ptc_info *info);
/* One JSON object. False when out of memory. */
bool ptc_info_json(const struct ptc_info *info);

#endif
