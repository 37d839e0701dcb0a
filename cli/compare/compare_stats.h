/* SPDX-License-Identifier: MIT */
/*
 * Sums over compared samples: by verdict, depth, class, CPU and place. Names the patterns of
 * errors.
 */
#ifndef PTC_CLI_COMPARE_COMPARE_STATS_H
#define PTC_CLI_COMPARE_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/compare/compare_diff.h"
#include "ptcap/compare.h"
#include "ptcap/kind.h"
#include "ptcap/stats.h"

enum {
	PTC_SUM_DEPTHS = 64,	  /* deeper entries count as the last depth */
	PTC_SUM_PLACES = 1 << 16, /* sources that are counted separately */
	PTC_SUM_WORST = 5,	  /* samples that are kept */
	PTC_SUM_SHIFTS = 32,
	PTC_SUM_CANDIDATES = 4, /* 1, 2 to 9, 10 to 99, more */
};

/* Counts of entries. */
struct ptc_sum_count {
	uint64_t judged, wrong; /* wrong entries are judged, too */
	uint64_t missing;
};

struct ptc_sum_cpu {
	int32_t cpu;
	struct ptc_sum_count count;
};

/* A branch source about which entries are wrong, or which stacks lack. */
struct ptc_sum_place {
	uint64_t from;
	uint64_t wrong, missing;
	struct ptc_side_place place; /* owned */
};

/* A function that contains such sources. */
struct ptc_sum_function {
	const char *name; /* lent from a place; NULL: sources without a name */
	uint64_t wrong, missing;
};

/* Patterns of all errors together. */
enum ptc_sum_pattern {
	PTC_PATTERN_DUPLICATED_TOP, /* duplicates are of the newest entry */
	PTC_PATTERN_OLDEST,	    /* errors are in the oldest entry */
	PTC_PATTERN_STALE,	    /* entries not in the trace are the oldest entries */
	PTC_PATTERN_SHIFT,	    /* stacks end the same number of branches before the ip */
	PTC_PATTERN_SHIFTED,	    /* a few stacks do: an ip may skid, too */
	PTC_PATTERN_LEAK,	    /* the filter lets a class through */
	PTC_PATTERN_CPU,	    /* errors are on one CPU */
	PTC_PATTERN_COUNT
};

const char *ptc_pattern_name(enum ptc_sum_pattern p);

struct ptc_compare_sum {
	uint64_t samples, exact_samples;
	uint64_t wrong_samples;			 /* with wrong or missing entries */
	uint64_t candidates[PTC_SUM_CANDIDATES]; /* samples by number of possible places */
	uint64_t limited; /* samples for which some other threads were not looked at */
	uint64_t skipped[PTC_COMPARE_SKIPS], skipped_entries[PTC_COMPARE_SKIPS];
	uint64_t entries; /* of all samples */
	uint64_t verdicts[PTC_VERDICT_COUNT];
	uint64_t gaps[PTC_GAP_COUNT]; /* entries in a gap, by its cause */
	struct ptc_sum_count all;
	uint64_t depths[PTC_SUM_DEPTHS][PTC_VERDICT_COUNT];
	uint64_t missing_at[PTC_SUM_DEPTHS]; /* between the entry and the next older one */
	struct ptc_sum_count kinds[PTC_KIND_COUNT];
	uint64_t leaks[PTC_KIND_COUNT];
	/* samples by their shift; the last one counts larger shifts, too */
	uint64_t located, shifts[PTC_SUM_SHIFTS];
	/*
	 * shifted: samples that do not end at the ip. may: these samples, by each possible shift.
	 * known: samples whose possible shifts are all known. any_may: these, by each possible
	 * shift.
	 */
	uint64_t shifted, may[PTC_SUM_SHIFTS], any_may[PTC_SUM_SHIFTS], known;
	uint64_t wrong_oldest, absent_tail;
	struct ptc_sum_cpu *cpus; /* owned; ascending */
	size_t ncpus, cpus_cap;
	struct ptc_sum_place *places; /* owned; by from; after ptc_compare_sum_finish by errors */
	size_t nplaces, places_cap;
	struct ptc_sum_function *functions; /* owned; set by finish, most errors first */
	size_t nfunctions;
	struct ptc_side worst[PTC_SUM_WORST]; /* most errors first */
	size_t nworst;
	uint64_t patterns; /* bits, set by finish */
	uint32_t shift;	   /* of PTC_PATTERN_SHIFT, PTC_PATTERN_SHIFTED */
	int32_t cpu;	   /* of PTC_PATTERN_CPU */
	uint8_t leak;	   /* kind of PTC_PATTERN_LEAK; NONE: several kinds */

	const struct ptc_side_names *names; /* lent; NULL: none */
};

void ptc_compare_sum_release(struct ptc_compare_sum *s);
/* Returns false if out of memory. */
bool ptc_compare_sum_add(struct ptc_compare_sum *s, const struct ptc_compare_sample *one);
/*
 * Find the patterns, sort places by their errors, and add them up by function. Returns false if out
 * of memory.
 */
bool ptc_compare_sum_finish(struct ptc_compare_sum *s);

#endif
