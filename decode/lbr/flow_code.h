/* SPDX-License-Identifier: MIT */
/*
 * What the code alone says about the entries of a branch stack: can a branch at this source have
 * this target, and does straight-line code connect two entries?
 */
#ifndef PTC_DECODE_LBR_FLOW_CODE_H
#define PTC_DECODE_LBR_FLOW_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/sample.h"

struct ptc_addrspace;

enum ptc_flow_edge_is {
	PTC_FLOW_EDGE_POSSIBLE, /* a direct branch to this target, or an indirect branch */
	PTC_FLOW_EDGE_TARGET,	/* a direct branch to another target */
	PTC_FLOW_EDGE_SOURCE,	/* no branch at the source */
	PTC_FLOW_EDGE_TYPE,	/* possible, but the entry's type is of another branch */
	PTC_FLOW_EDGE_NO_CODE,
};

/*
 * Judge @e by the code of @as. @types: the entry's type is valid. @ret_next: a jcc to the next
 * instruction, which traces do not list.
 */
enum ptc_flow_edge_is ptc_flow_code_edge(const struct ptc_addrspace *as, const struct ptc_branch *e,
					 bool types, bool *ret_next);

enum ptc_flow_link_is {
	PTC_FLOW_LINKED, /* straight-line code leads from one to the other */
	PTC_FLOW_BROKEN, /* it does not */
	/* It does not, but a system call on the way may continue elsewhere. */
	PTC_FLOW_KERNEL,
	PTC_FLOW_NO_CODE, /* or too much code */
};

/*
 * Does execution get from @to, the target of the older entry, to the instruction at @from, without
 * a taken branch? Follows at most PTC_FLOW_STEPS instructions, and adds their number to *@work. If
 * *@work is PTC_FLOW_WORK, all is NO_CODE.
 */
enum { PTC_FLOW_STEPS = 1024, PTC_FLOW_WORK = 1 << 28 };
enum ptc_flow_link_is ptc_flow_code_link(const struct ptc_addrspace *as, uint64_t to, uint64_t from,
					 uint64_t *work);

#endif
