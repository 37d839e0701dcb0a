/* SPDX-License-Identifier: MIT */
#include "decode/lbr/flow_code.h"

#include <linux/perf_event.h>

#include "arch/insn.h"
#include "decode/image/addrspace.h"
#include "ptcap/branchsel.h"

static enum ptc_insn_status read_insn(const struct ptc_addrspace *as, uint64_t ip,
				      struct ptc_insn *ret)
{
	uint8_t bytes[PTC_INSN_MAX];
	const size_t n = ptc_addrspace_read(as, ip, bytes, sizeof(bytes));

	return n ? ptc_insn_decode(PTC_MODE_64, bytes, n, ip, ret) : PTC_INSN_SHORT;
}

enum ptc_flow_edge_is ptc_flow_code_edge(const struct ptc_addrspace *as, const struct ptc_branch *e,
					 bool types, bool *ret_next)
{
	struct ptc_insn insn;
	const enum ptc_insn_status status = read_insn(as, e->from, &insn);
	uint8_t type;

	*ret_next = false;
	if (status == PTC_INSN_SHORT || (status == PTC_INSN_OK && insn.unknown))
		return PTC_FLOW_EDGE_NO_CODE;
	if (e->in_tx || e->abort) /* any instruction can abort a transaction */
		return PTC_FLOW_EDGE_POSSIBLE;
	if (status != PTC_INSN_OK || insn.kind == PTC_KIND_NONE)
		return PTC_FLOW_EDGE_SOURCE;
	if (insn.direct && insn.target != e->to)
		return PTC_FLOW_EDGE_TARGET;
	*ret_next = insn.kind == PTC_KIND_JCC && e->to == e->from + insn.len;
	type = ptc_branchsel_type(insn.kind);
	if (types && e->type && type != PERF_BR_UNKNOWN && e->type != type)
		return PTC_FLOW_EDGE_TYPE;
	return PTC_FLOW_EDGE_POSSIBLE;
}

enum ptc_flow_link_is ptc_flow_code_link(const struct ptc_addrspace *as, uint64_t to, uint64_t from,
					 uint64_t *work)
{
	bool calls_kernel = false;
	struct ptc_insn insn;
	size_t i;

	for (i = 0; i < PTC_FLOW_STEPS && *work < PTC_FLOW_WORK; i++, to += insn.len) {
		const enum ptc_insn_status status = read_insn(as, to, &insn);

		++*work;
		if (to == from)
			return PTC_FLOW_LINKED;
		if (status == PTC_INSN_SHORT)
			return PTC_FLOW_NO_CODE;
		if (status == PTC_INSN_BAD)
			return calls_kernel ? PTC_FLOW_KERNEL : PTC_FLOW_BROKEN;
		switch (insn.kind) {
		case PTC_KIND_NONE:
		case PTC_KIND_JCC:
			break;
		case PTC_KIND_SYSCALL:
		case PTC_KIND_INT:
			calls_kernel = true;
			break;
		default:
			return calls_kernel ? PTC_FLOW_KERNEL : PTC_FLOW_BROKEN;
		}
	}
	return PTC_FLOW_NO_CODE;
}
