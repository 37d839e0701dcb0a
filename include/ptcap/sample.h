/* SPDX-License-Identifier: MIT */
/*
 * The sample_id trailer of records with sample_id_all, and SAMPLE records. Order of the trailer
 * (perf_event_header__init_id, kernel/events/core.c): TID TIME ID STREAM_ID CPU IDENTIFIER. Order
 * of a SAMPLE: perf_output_sample in the same file, and PERF_RECORD_SAMPLE in
 * include/uapi/linux/perf_event.h.
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
 * Counter values in READ records and in samples with PERF_SAMPLE_READ: struct read_format of
 * include/uapi/linux/perf_event.h, in each of its forms.
 */

/* One counter value. */
struct ptc_read_value {
	uint64_t value;
	uint64_t id;   /* PERF_FORMAT_ID, else 0 */
	uint64_t lost; /* PERF_FORMAT_LOST, else 0: samples that were not written */
};

/* Counter values of one record. */
struct ptc_read {
	uint64_t format;		     /* PERF_FORMAT_*: attr.read_format */
	uint64_t n;			     /* number of values; 1 without PERF_FORMAT_GROUP */
	uint64_t time_enabled, time_running; /* ns; 0 without their PERF_FORMAT_* */
	struct ptc_read_value one;	     /* the value, without PERF_FORMAT_GROUP */
	struct ptc_cur group;		     /* the values, with PERF_FORMAT_GROUP; borrowed */
};

/* Returns false for a format that this build does not know, and whose layout is unknown. */
PTC_API bool ptc_read_known(uint64_t read_format);

/*
 * Take values of @read_format from the front of @c. *@ret borrows from @c. Returns false, without
 * moving @c, if too few bytes are left or the format is unknown.
 */
PTC_API bool ptc_read_parse(struct ptc_cur *c, uint64_t read_format, struct ptc_read *ret);

/* Take the next value of @r. Iterate over a copy to keep @r. Returns false at the end. */
PTC_API bool ptc_read_next(struct ptc_read *r, struct ptc_read_value *ret);

/* Branch stacks of samples: struct perf_branch_entry of include/uapi/linux/perf_event.h. */

enum { PTC_BRANCH_SIZE = 24 }; /* from, to, flags */

/* One entry of a branch stack. */
struct ptc_branch {
	uint64_t from, to;
	bool mispred, predicted; /* neither: not reported by the CPU */
	bool in_tx, abort;
	uint16_t cycles;   /* cycles since the previous branch; 0: not known */
	uint8_t type;	   /* PERF_BR_*; PERF_BR_EXTEND_ABI: see new_type */
	uint8_t spec;	   /* PERF_BR_SPEC_* */
	uint8_t new_type;  /* PERF_BR_NEW_* */
	uint8_t priv;	   /* PERF_BR_PRIV_* */
	uint32_t reserved; /* bits that no kernel has defined yet */
	/*
	 * Event counts, packed as the PMU's branch_counter_* state; 0 without
	 * PERF_SAMPLE_BRANCH_COUNTERS.
	 */
	uint64_t counters;
};

struct ptc_branches { /* the newest branch first */
	uint64_t n;
	bool has_hw_idx;
	uint64_t hw_idx; /* index of the newest entry in the hardware's ring; all ones: not known */
	bool has_counters;
	struct ptc_cur entries;	 /* borrowed; PTC_BRANCH_SIZE bytes each */
	struct ptc_cur counters; /* borrowed; u64 each */
};

/*
 * Take a branch stack from the front of @c. The caller sets @ret->has_hw_idx and has_counters
 * before the call. Returns false, without changes, if too few bytes are left.
 */
PTC_API bool ptc_branches_parse(struct ptc_cur *c, struct ptc_branches *ret);

/* Take the next branch of @s. Returns false at the end. */
PTC_API bool ptc_branches_next(struct ptc_branches *s, struct ptc_branch *ret);

/* The fields of a sample_id trailer. */
struct ptc_sample_id {
	uint64_t has; /* PERF_SAMPLE_* bits of the fields that are set */
	int32_t pid, tid;
	uint64_t time; /* ns, perf clock */
	uint64_t id;   /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/*
 * Read the sample_id trailer at the end of @body, and cut it off. Returns false, without changes,
 * if the body is too short.
 */
PTC_API bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type,
				 struct ptc_sample_id *ret);

/* Registers of a SAMPLE: values for the bits set in @mask, lowest bit first. */
struct ptc_regs {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_*; NONE: no values */
	/* attr.sample_regs_user or _intr; bits: arch/x86/include/uapi/asm/perf_regs.h */
	uint64_t mask;
	struct ptc_cur values; /* borrowed; u64 each */
};

/* Cost of a sampled operation, in the unit of its event. */
struct ptc_weight {
	uint64_t full;	  /* PERF_SAMPLE_WEIGHT */
	uint32_t var1_dw; /* the same bytes in PERF_SAMPLE_WEIGHT_STRUCT layout */
	uint16_t var2_w, var3_w;
};

/*
 * A PERF_RECORD_SAMPLE. Fields that are not in id.has (attr.sample_type) are zero or empty.
 * Variable-length fields are borrowed from the record, with the length that the record states.
 */
struct ptc_sample {
	struct ptc_sample_id id; /* id.has: PERF_SAMPLE_* of all fields that are set */
	uint64_t ip, addr, period;
	struct ptc_read read;
	struct ptc_cur callchain; /* u64 each, with PERF_CONTEXT_* markers; innermost first */
	struct ptc_cur raw;	  /* layout depends on the event */
	struct ptc_branches branches;
	struct ptc_regs regs_user;
	struct ptc_cur stack_user; /* the user stack from the stack pointer upwards */
	uint64_t stack_user_dyn;   /* bytes of stack_user that could be copied */
	struct ptc_weight weight;
	uint64_t data_src;    /* union perf_mem_data_src */
	uint64_t transaction; /* PERF_TXN_* */
	struct ptc_regs regs_intr;
	uint64_t phys_addr, cgroup;
	uint64_t data_page_size, code_page_size; /* bytes; 0: not known */
	/* Bytes of the AUX area, padded with 0 to a multiple of 8. */
	struct ptc_cur aux;
	struct ptc_cur rest; /* bytes that a kernel newer than our perf_event.h appended */
};

/*
 * Parse only the fixed part at the front (IDENTIFIER to PERIOD), which is fast. The rest of *@ret
 * is not changed. @body moves behind that part. Returns false, without changes, if too short.
 */
PTC_API bool ptc_sample_parse_front(struct ptc_cur *body, uint64_t sample_type,
				    struct ptc_sample *ret);

/*
 * Parse a whole SAMPLE with its event's attr (sample_type, read_format, branch_sample_type,
 * sample_regs_*). Returns 0. PTC_E_FORMAT: a field does not fit, and the message names it.
 * PTC_E_UNSUPPORTED: an unknown read_format, after which no field can be found.
 *
 * Kernels omit hw_idx from a branch stack without entries if the PMU gave none. If the record is
 * one word too short for hw_idx, it is parsed without hw_idx.
 */
PTC_API int ptc_sample_parse(const struct ptc_rec *rec, const struct perf_event_attr *attr,
			     struct ptc_sample *ret, struct ptc_err *err);

/* Get the value of register @bit. Returns false if the sample does not have it. */
PTC_API bool ptc_regs_get(const struct ptc_regs *r, unsigned int bit, uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
