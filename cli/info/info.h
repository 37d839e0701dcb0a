/* SPDX-License-Identifier: MIT */
/* Data of `ptcap info`: gathered in one pass, then printed as text or JSON. */
#ifndef PTC_CLI_INFO_INFO_H
#define PTC_CLI_INFO_INFO_H

#include "cli/common/completeness.h"
#include "cli/common/ledger.h"
#include "cli/common/recorded_cpu.h"
#include "ptcap/crash.h"
#include "ptcap/decode.h"
#include "ptcap/file.h"

enum { PTC_INFO_TYPES = 128 }; /* record types counted by name */
/* Maximum bytes of trace that are decoded for a verdict. */
#define PTC_INFO_JUDGED ((uint64_t)64 << 20)

struct ptc_info {
	const struct ptc_file *file; /* borrowed, as all strings below */
	/* NULL: not recorded */
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	struct ptc_nrcpus cpus;
	uint32_t packages, cores, numa_nodes; /* 0: not recorded */
	uint64_t total_mem_kib;
	bool has_compressed, has_clock;
	bool of_crash;	    /* the state records now read belong to a crash */
	int64_t modified_s; /* of the file, since 1970; 0: not known (standard input) */
	struct ptc_compressed compressed;
	struct ptc_clock_data clock;
	uint64_t first_ns, last_ns; /* both 0: no time in the file */
	bool has_pt;
	struct ptc_pt_info pt;
	struct ptc_index index; /* owned */
	uint64_t records, unknown;
	uint64_t by_type[PTC_INFO_TYPES];
	uint64_t code_bytes;			/* bytes of the program's TEXT_POKEs */
	uint64_t lost_events;			/* sum of LOST and LOST_SAMPLES */
	uint64_t truncated, partial, collision; /* AUX records with these flags */
	struct ptc_ledger_list ledger;		/* owned */
	struct ptc_recorded_cpu cpu;
	uint64_t crashes;	       /* fatal signals whose state was saved */
	struct ptc_crash_signal crash; /* the last of them */
	uint64_t states;	       /* of live processes */
	uint64_t crash_cut;	       /* bytes of its memory that exceeded the limit */
	/* Owned; finds the files named in the recording; NULL: none. */
	struct ptc_decode *survey;
	size_t files;		    /* number of files that the recording names */
	struct ptc_err survey_err;  /* why there is no survey; code 0: no Intel PT */
	bool has_verdict;	    /* snapshots only, and only if the trace is not too large */
	struct ptc_verdict verdict; /* owned */
};

/* @ret must be zeroed. The caller releases it on success and on failure. Errors name the file. */
int ptc_info_gather(const struct ptc_file *f, struct ptc_info *ret, struct ptc_err *err);
/*
 * Check which of the recording's files are available. Info can also describe recordings that cannot
 * be decoded.
 */
void ptc_info_survey(const char *path, struct ptc_info *i);
/* Snapshots only: determine the coverage of each thread. */
void ptc_info_judge(const char *path, struct ptc_info *i);
void ptc_info_release(struct ptc_info *info);
/* Returns the next note of the survey about an assumption. *i starts at 0. NULL: no more. */
const char *ptc_info_next_note(const struct ptc_info *info, size_t *i);

/*
 * Returns the entries of a feature, which are not copied. Empty if the file does not have the
 * feature. A damaged feature is reported by the iterator; dump shows all details.
 */
struct ptc_feature_iter ptc_info_list(const struct ptc_info *info, enum ptc_feature bit);
/* NULL: not known. */
const char *ptc_info_event_name(const struct ptc_info *info, size_t i);
const char *ptc_info_pmu_name(const struct ptc_info *info, uint32_t type);

void ptc_info_text(const struct ptc_info *info);
/* Print one JSON object. Returns false if out of memory. */
bool ptc_info_json(const struct ptc_info *info);

#endif
