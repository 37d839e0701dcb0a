/* SPDX-License-Identifier: MIT */
/*
 * Compares a recording's branch stacks (LBR) with its trace, sample by sample, during a decode. A
 * sample is judged when the decode has passed the sample's place. Each entry of a stack gets a
 * verdict. The method: doc/adr/0017-branch-stacks-are-aligned.md. ptcap/compare_runs.h compares
 * with the trace of another run.
 */
#ifndef PTCAP_COMPARE_H
#define PTCAP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"
#include "ptcap/error.h"
#include "ptcap/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_file_attr;

/* The verdict on an entry of a branch stack. */
enum ptc_verdict {
	PTC_VERDICT_EXACT,
	PTC_VERDICT_TARGET,	/* the trace has this source with another target */
	PTC_VERDICT_SOURCE,	/* the trace has this target with another source */
	PTC_VERDICT_ORDER,	/* it and its neighbour are swapped */
	PTC_VERDICT_DUPLICATED, /* equal to the older entry beside it; the trace has one less */
	PTC_VERDICT_CLASS,	/* in the trace, but excluded by the filter */
	PTC_VERDICT_TYPE,	/* source and target are right, the type is not */
	PTC_VERDICT_FLAG,	/* both are right, but an expected flag is missing */
	PTC_VERDICT_ABSENT,	/* not in the trace at this place */
	/* Not judged: */
	PTC_VERDICT_BEFORE,    /* before the begin of the trace */
	PTC_VERDICT_GAP,       /* in a gap of the trace */
	PTC_VERDICT_UNTRACED,  /* one end is in the kernel, which was not traced */
	PTC_VERDICT_AMBIGUOUS, /* equally good alignments differ about it */
	PTC_VERDICT_UNPLACED,  /* the whole stack matches nowhere */
	PTC_VERDICT_COUNT
};

/* Returns "exact", "wrong target", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_verdict_name(enum ptc_verdict v);

/* Returns whether an entry with the verdict @v was compared. EXACT is the only right verdict. */
static inline bool ptc_verdict_is_judged(enum ptc_verdict v)
{
	return v < PTC_VERDICT_BEFORE;
}

/* Why a sample's entries were not judged. */
enum ptc_compare_skip {
	PTC_COMPARE_JUDGED,
	PTC_COMPARE_NO_TIME,   /* the sample has no time or no thread */
	PTC_COMPARE_NO_THREAD, /* the trace has nothing of its thread up to then */
	PTC_COMPARE_STACK,     /* call-stack mode, and the event includes the kernel */
	PTC_COMPARE_LONG,      /* more than 512 entries */
	/* its branches were dropped: too many other threads were active since */
	PTC_COMPARE_FORGOTTEN,
	PTC_COMPARE_SKIPS
};

/* Returns the reason in words; static; "?" for an unknown value. */
PTC_API const char *ptc_compare_skip_name(enum ptc_compare_skip skip);

/* A branch of the trace. */
struct ptc_step {
	uint64_t from, to; /* 0 as in struct ptc_item: such branches are not in branch stacks */
	uint64_t time;	   /* ns, perf clock, or PTC_NO_TIME */
	uint8_t kind;	   /* enum ptc_kind */
	uint8_t flags;	   /* for the library */
};

/* An entry of a branch stack, compared with the trace. */
struct ptc_compare_entry {
	const struct ptc_branch *branch; /* as recorded */
	const struct ptc_step *step;	 /* what the entry is read as; NULL: no branch */
	uint32_t missing; /* branches between it and the next older entry that the stack lacks */
	uint8_t verdict;  /* enum ptc_verdict */
	uint8_t cause;	  /* for PTC_VERDICT_GAP: enum ptc_gap_cause */
};

struct ptc_compare_own;

/*
 * A sample, with everything it points to lent for the call of on_sample. Later versions may append
 * members to this struct, to struct ptc_compare_entry and to struct ptc_step. So do not copy these
 * structs, and do no arithmetic on pointers to them.
 */
struct ptc_compare_sample {
	const struct ptc_sample *sample;
	const struct ptc_file_attr *attr;
	uint64_t off;		    /* offset of its record: ptc_file_place */
	struct ptc_item where;	    /* process and time, to find names: ptc_decode_symbol */
	size_t n;		    /* entries of the stack, without unused ones */
	enum ptc_compare_skip skip; /* JUDGED: it has entries, and the members below are set */
	size_t candidates;	    /* places in the trace where the stack fits equally well */
	bool fits;		    /* the ip fits somewhere, so shift is valid */
	bool limited;		    /* some other threads were not searched for stale entries */
	uint32_t shift; /* least number of branches between the stack's end and the ip */
	/* bit k: shift k is possible; 0: not computed, or the stack is not exact */
	uint32_t shifts;
	const struct ptc_compare_own *own; /* for the library */
};

/* Returns entry @i of a judged sample; 0 is the newest. NULL: not judged, or there is none. */
PTC_API const struct ptc_compare_entry *ptc_compare_entry(const struct ptc_compare_sample *s,
							  size_t i);

/*
 * Returns the next branch that the stack lacks between entry @i and the older entry. @newer: the
 * branch before, or NULL for the first one, which is the newest. The caller calls this up to
 * entry->missing times. NULL: there is none.
 */
PTC_API const struct ptc_step *ptc_compare_missing(const struct ptc_compare_sample *s, size_t i,
						   const struct ptc_step *newer);

/* The default of slack_ns. */
#define PTC_COMPARE_SLACK_NS UINT64_C(2000)

/* Initialize with PTC_COMPARE_OPTS_INIT. The caller sets d and on_sample. */
struct ptc_compare_opts {
	size_t size;	      /* sizeof(struct ptc_compare_opts) */
	uint64_t slack_ns;    /* how much times may be wrong */
	uint64_t first, last; /* numbers of samples in order of time, from 1; both included */
	/* lent; decoder of a recording, with opts.untraced, without opts.runs; not run yet */
	struct ptc_decode *d;
	/* Called for each sample, in order of time. Returns false if out of memory. */
	bool (*on_sample)(void *ctx, const struct ptc_compare_sample *s);
	void *ctx;
};

/* The defaults: all samples, with a slack of PTC_COMPARE_SLACK_NS. */
#ifdef __cplusplus
static inline struct ptc_compare_opts ptc_compare_opts_init(void)
{
	struct ptc_compare_opts ret = {};

	ret.size = sizeof(ret);
	ret.slack_ns = PTC_COMPARE_SLACK_NS;
	ret.first = 1;
	ret.last = UINT64_MAX;
	return ret;
}
#define PTC_COMPARE_OPTS_INIT ptc_compare_opts_init()
#else
/* clang-format off */
#define PTC_COMPARE_OPTS_INIT \
	{ \
		.size = sizeof(struct ptc_compare_opts), .slack_ns = PTC_COMPARE_SLACK_NS, \
		.first = 1, .last = UINT64_MAX \
	}
/* clang-format on */
#endif

/* Totals of a file, with or without a trace. Initialize with PTC_COMPARE_TOTAL_INIT. */
struct ptc_compare_total {
	size_t size;		   /* sizeof(struct ptc_compare_total) */
	uint64_t samples, entries; /* samples with branch stacks; entries of these stacks */
	uint64_t forgotten; /* how often a thread's branches were dropped: PTC_COMPARE_FORGOTTEN */
	bool traced;	    /* the file has a trace */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_compare_total ptc_compare_total_init(void)
{
	struct ptc_compare_total ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_COMPARE_TOTAL_INIT ptc_compare_total_init()
#else
/* clang-format off */
#define PTC_COMPARE_TOTAL_INIT \
	{ \
		.size = sizeof(struct ptc_compare_total) \
	}
/* clang-format on */
#endif

/*
 * Decode opts->d, and call on_sample. If *@ret has no samples or no trace, nothing was decoded.
 * Without a size in *@ret nothing is set there. Errors: as ptc_decode_run. PTC_E_FORMAT also if a
 * sample does not match the description of its event. PTC_E_USAGE: options without a size.
 * PTC_E_UNSUPPORTED: unknown options of a newer caller.
 */
PTC_API int ptc_compare_run(const struct ptc_compare_opts *opts, struct ptc_compare_total *ret,
			    struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
