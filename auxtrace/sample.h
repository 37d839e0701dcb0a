/* SPDX-License-Identifier: MIT */
/*
 * The sample_id trailer of sample_id_all records, and SAMPLE records. Order of
 * the trailer (perf_event_header__init_id, kernel/events/core.c): TID TIME ID
 * STREAM_ID CPU IDENTIFIER. Order of a SAMPLE: perf_output_sample there, and
 * PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
 */
#ifndef PTC_AUXTRACE_SAMPLE_H
#define PTC_AUXTRACE_SAMPLE_H

#include <stdbool.h>

#include "auxtrace/branch.h"
#include "auxtrace/read_format.h"
#include "auxtrace/record.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

#include <linux/perf_event.h>

struct ptc_sample_id {
	uint64_t has; /* PERF_SAMPLE_* bits of the fields that are set */
	int32_t pid, tid;
	uint64_t time; /* ns, perf clock */
	uint64_t id;   /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/* Bytes of the trailer for an attr's sample_type. */
size_t ptc_sample_id_size(uint64_t sample_type);

/*
 * Read the trailer at the end of @body, and cut it off. False (nothing
 * changed) when the body is too short for it.
 */
bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample_id *ret);

/* Append the trailer; fields that @id does not have are 0. */
void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id);

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
bool ptc_sample_parse_front(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample *ret);

/*
 * Type a whole SAMPLE by its event's attr (sample_type, read_format,
 * branch_sample_type, sample_regs_*). Returns 0; PTC_E_FORMAT: the error names
 * the field that does not fit; or PTC_E_UNSUPPORTED: a read_format we do not
 * know, behind which nothing can be found.
 *
 * Kernels leave hw_idx out of a branch stack that has no entries because the
 * PMU gave none: where the record is one word short with it, it is not there.
 */
int ptc_sample_parse(const struct ptc_rec *rec, const struct perf_event_attr *attr,
		     struct ptc_sample *ret, struct ptc_err *err);

/*
 * Append @s as a whole record by @attr: the inverse of parse. raw and aux are
 * padded as the kernel pads them, and their sizes include that. Parts that
 * contradict the attr (registers that are not one for each bit of the mask
 * while there is an ABI, counters that are not one for each branch) fail @b.
 */
void ptc_sample_put(struct ptc_buf *b, uint16_t misc, const struct ptc_sample *s,
		    const struct perf_event_attr *attr);

/* The value of register @bit; false if the sample has none. */
bool ptc_regs_get(const struct ptc_regs *r, unsigned int bit, uint64_t *ret);

#endif
