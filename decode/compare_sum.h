/* SPDX-License-Identifier: MIT */
/* What many compared samples add up to: by verdict, depth, class, CPU and place; and what it looks
 * like. */
#ifndef PTC_DECODE_COMPARE_SUM_H
#define PTC_DECODE_COMPARE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/compare.h"
#include "decode/compare_side.h"
#include "ptcap/kind.h"

enum {
	PTC_SUM_DEPTHS = 64,	  /* deeper ones count for the last */
	PTC_SUM_PLACES = 1 << 16, /* sources told apart */
	PTC_SUM_WORST = 5,	  /* samples kept */
	PTC_SUM_SHIFTS = 32,
	PTC_SUM_CANDIDATES = 4, /* 1, 2 to 9, 10 to 99, more */
};

/* Of some entries. */
struct ptc_sum_count {
	uint64_t judged, wrong; /* wrong ones are judged, too */
	uint64_t missing;
};

struct ptc_sum_cpu {
	int32_t cpu;
	struct ptc_sum_count count;
};

/* A source that entries are wrong about, or that they lack. */
struct ptc_sum_place {
	uint64_t from;
	uint64_t wrong, missing;
	struct ptc_side_place place; /* owned */
};

/* A function with such sources. */
struct ptc_sum_function {
	const char *name; /* lent from a place; NULL: of those without a name */
	uint64_t wrong, missing;
};

/* What errors look like, all together. */
enum ptc_sum_pattern {
	PTC_PATTERN_DUPLICATED_TOP, /* copies are of the newest entry */
	PTC_PATTERN_OLDEST,	    /* errors are in the oldest entry */
	PTC_PATTERN_STALE,	    /* entries that are not in the trace are the oldest ones */
	PTC_PATTERN_SHIFT,	    /* stacks end the same number of transfers in front of the ip */
	PTC_PATTERN_SHIFTED,	    /* a few do: an ip may skid, too */
	PTC_PATTERN_LEAK,	    /* the filter lets a class through */
	PTC_PATTERN_CPU,	    /* errors are on one CPU */
	PTC_PATTERN_COUNT
};

const char *ptc_pattern_name(enum ptc_sum_pattern p);

struct ptc_compare_sum {
	uint64_t samples, exact_samples;
	uint64_t candidates[PTC_SUM_CANDIDATES]; /* samples by the number of places they are read at
						  */
	uint64_t limited; /* samples for which not all other threads were looked at */
	uint64_t skipped[PTC_COMPARE_SKIPS], skipped_entries[PTC_COMPARE_SKIPS];
	uint64_t entries; /* of all samples */
	uint64_t verdicts[PTC_VERDICT_COUNT];
	uint64_t gaps[PTC_GAP_COUNT]; /* entries in a gap, by its cause */
	struct ptc_sum_count all;
	uint64_t depths[PTC_SUM_DEPTHS][PTC_VERDICT_COUNT];
	uint64_t missing_at[PTC_SUM_DEPTHS]; /* between it and the next older one */
	struct ptc_sum_count kinds[PTC_KIND_COUNT];
	uint64_t leaks[PTC_KIND_COUNT];
	uint64_t located, shifts[PTC_SUM_SHIFTS]; /* samples by their shift; the last: or more */
	/* samples that do not end at the ip, by each shift that is possible; of all samples of
	 * which all possible shifts are known the same, and how many these are */
	uint64_t shifted, may[PTC_SUM_SHIFTS], any_may[PTC_SUM_SHIFTS], known;
	uint64_t wrong_oldest, absent_tail;
	struct ptc_sum_cpu *cpus; /* owned; ascending */
	size_t ncpus, cpus_cap;
	struct ptc_sum_place *places; /* owned; by from, until ptc_compare_sum_finish */
	size_t nplaces, places_cap;
	struct ptc_sum_function *functions; /* owned; the worst first, once finished */
	size_t nfunctions;
	struct ptc_side worst[PTC_SUM_WORST]; /* the worst first */
	size_t nworst;
	uint64_t patterns; /* bits, once finished */
	uint32_t shift;	   /* of PTC_PATTERN_SHIFT, PTC_PATTERN_SHIFTED */
	int32_t cpu;	   /* of PTC_PATTERN_CPU */
	uint8_t leak;	   /* kind of PTC_PATTERN_LEAK; NONE: of several */

	const struct ptc_side_names *names; /* lent; NULL: none */
};

void ptc_compare_sum_release(struct ptc_compare_sum *s);
/* False: out of memory. */
bool ptc_compare_sum_add(struct ptc_compare_sum *s, const struct ptc_compare_sample *one);
/* Name the patterns, put the worst places first, and add them up by function. False: out of memory.
 */
bool ptc_compare_sum_finish(struct ptc_compare_sum *s);

#endif
