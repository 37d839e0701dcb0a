/* SPDX-License-Identifier: MIT */
/*
 * The sample_id trailer of sample_id_all records, and SAMPLE records. Order of
 * the trailer (perf_event_header__init_id, kernel/events/core.c): TID TIME ID
 * STREAM_ID CPU IDENTIFIER. Order of a SAMPLE: perf_output_sample there, and
 * PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
 */
#ifndef PTCAP_SAMPLE_H
#define PTCAP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counter values as READ records and samples with PERF_SAMPLE_READ carry them:
 * struct read_format of include/uapi/linux/perf_event.h, in each of its forms.
 */

struct ptc_read_value {
	uint64_t value;
	uint64_t id;   /* PERF_FORMAT_ID, else 0 */
	uint64_t lost; /* PERF_FORMAT_LOST, else 0: samples not written */
};

struct ptc_read {
	uint64_t format;		     /* PERF_FORMAT_*: attr.read_format */
	uint64_t n;			     /* values: 1 without PERF_FORMAT_GROUP */
	uint64_t time_enabled, time_running; /* ns; 0 without their PERF_FORMAT_* */
	struct ptc_read_value one;	     /* the value without PERF_FORMAT_GROUP */
	struct ptc_cur group;		     /* the values with it: lent */
};

/* False for a format that this build does not know: its layout is not known either. */
PTC_API bool ptc_read_known(uint64_t read_format);

/*
 * Take values of @read_format from the front of @c. False (nothing moved) if
 * too few bytes are left, or the format is not known. *@ret lends from @c.
 */
PTC_API bool ptc_read_parse(struct ptc_cur *c, uint64_t read_format, struct ptc_read *ret);

/* Take the next value of @r (start with a copy to keep the first). False: no more. */
PTC_API bool ptc_read_next(struct ptc_read *r, struct ptc_read_value *ret);

/* Branch stacks of samples: struct perf_branch_entry of include/uapi/linux/perf_event.h. */

enum { PTC_BRANCH_SIZE = 24 }; /* from, to, flags */

struct ptc_branch {
	uint64_t from, to;
	bool mispred, predicted; /* neither: the CPU does not say */
	bool in_tx, abort;
	uint16_t cycles;   /* since the branch before; 0: not known */
	uint8_t type;	   /* PERF_BR_*; PERF_BR_EXTEND_ABI: see new_type */
	uint8_t spec;	   /* PERF_BR_SPEC_* */
	uint8_t new_type;  /* PERF_BR_NEW_* */
	uint8_t priv;	   /* PERF_BR_PRIV_* */
	uint32_t reserved; /* bits no kernel has defined yet */
	uint64_t counters; /* occurrences of events, packed as the PMU's branch_counter_* say; 0
			    * without PERF_SAMPLE_BRANCH_COUNTERS */
};

struct ptc_branches { /* the newest branch first */
	uint64_t n;
	bool has_hw_idx;
	uint64_t hw_idx; /* of the newest entry in the hardware's ring; all ones: not known */
	bool has_counters;
	struct ptc_cur entries;	 /* lent: PTC_BRANCH_SIZE each */
	struct ptc_cur counters; /* lent: u64 each */
};

/*
 * Take a branch stack from the front of @c; @ret->has_hw_idx and has_counters
 * say on entry what it has. False (nothing changed): too few bytes.
 */
PTC_API bool ptc_branches_parse(struct ptc_cur *c, struct ptc_branches *ret);

/* Take the next branch of @s. False: no more. */
PTC_API bool ptc_branches_next(struct ptc_branches *s, struct ptc_branch *ret);

struct ptc_sample_id {
	uint64_t has; /* PERF_SAMPLE_* bits of the fields that are set */
	int32_t pid, tid;
	uint64_t time; /* ns, perf clock */
	uint64_t id;   /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/*
 * Read the trailer at the end of @body, and cut it off. False (nothing
 * changed) when the body is too short for it.
 */
PTC_API bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type,
				 struct ptc_sample_id *ret);

/* Registers of a SAMPLE: the values of the bits set in @mask, lowest bit first. */
struct ptc_regs {
	uint64_t abi;	       /* PERF_SAMPLE_REGS_ABI_*; NONE: there are no values */
	uint64_t mask;	       /* attr.sample_regs_user or _intr; bits:
				  arch/x86/include/uapi/asm/perf_regs.h */
	struct ptc_cur values; /* lent: u64 each */
};

struct ptc_weight {
	uint64_t full;	  /* PERF_SAMPLE_WEIGHT */
	uint32_t var1_dw; /* the same bytes as PERF_SAMPLE_WEIGHT_STRUCT has them */
	uint16_t var2_w, var3_w;
};

/*
 * A PERF_RECORD_SAMPLE. What id.has (attr.sample_type) does not name is zero
 * or empty. The parts are lent from the record, of exactly the length it
 * claims.
 */
struct ptc_sample {
	struct ptc_sample_id id; /* id.has: PERF_SAMPLE_* of everything that is set here */
	uint64_t ip, addr, period;
	struct ptc_read read;
	struct ptc_cur callchain; /* u64 each, PERF_CONTEXT_* among them; innermost first */
	struct ptc_cur raw;	  /* its layout is the event's */
	struct ptc_branches branches;
	struct ptc_regs regs_user;
	struct ptc_cur stack_user; /* the user stack from its pointer up... */
	uint64_t stack_user_dyn;   /* ...of which so many bytes could be copied */
	struct ptc_weight weight;
	uint64_t data_src;    /* union perf_mem_data_src */
	uint64_t transaction; /* PERF_TXN_* */
	struct ptc_regs regs_intr;
	uint64_t phys_addr, cgroup;
	uint64_t data_page_size, code_page_size; /* bytes; 0: not known */
	struct ptc_cur aux;			 /* a piece of the AUX area, padded to 8 with 0 */
	struct ptc_cur rest; /* what a kernel newer than our perf_event.h put behind that */
};

/*
 * Only the fixed part at the front (IDENTIFIER to PERIOD), cheaply; the rest
 * of *@ret is not touched. @body moves behind it. False (nothing changed): too
 * short.
 */
PTC_API bool ptc_sample_parse_front(struct ptc_cur *body, uint64_t sample_type,
				    struct ptc_sample *ret);

/*
 * Type a whole SAMPLE by its event's attr (sample_type, read_format,
 * branch_sample_type, sample_regs_*). Returns 0; PTC_E_FORMAT: the error names
 * the field that does not fit; or PTC_E_UNSUPPORTED: a read_format we do not
 * know, behind which nothing can be found.
 *
 * Kernels leave hw_idx out of a branch stack that has no entries because the
 * PMU gave none: where the record is one word short with it, it is not there.
 */
PTC_API int ptc_sample_parse(const struct ptc_rec *rec, const struct perf_event_attr *attr,
			     struct ptc_sample *ret, struct ptc_err *err);

/* The value of register @bit; false if the sample has none. */
PTC_API bool ptc_regs_get(const struct ptc_regs *r, unsigned int bit, uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
