/* SPDX-License-Identifier: MIT */
/* Description: code alone shows which branches and which runs of branches are possible. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/lbr/flow_code.h"

enum { CODE = 0x1000 };

static const uint8_t text[] = {
	0x90,		  /* 00: nop */
	0x74, 0x03,	  /* 01: je 06 */
	0x90,		  /* 03: nop */
	0xeb, 0xfa,	  /* 04: jmp 00 */
	0x0f, 0x05,	  /* 06: syscall */
	0xff, 0xe0,	  /* 08: jmp *%rax */
	0x74, 0x00,	  /* 0a: je 0c */
	0xc3,		  /* 0c: ret */
	0x06, 0x90, 0x90, /* 0d: no instruction in 64-bit code */
};

static struct ptc_codefiles files;
static struct ptc_addrspace as;

static void setup(void)
{
	cr_assert(ptc_addrspace_map(&as, CODE, sizeof(text), 0,
				    ptc_codefiles_add_bytes(&files, "a", text, sizeof(text))));
}

static void teardown(void)
{
	ptc_addrspace_release(&as);
	ptc_codefiles_release(&files);
}

TestSuite(flow_code, .init = setup, .fini = teardown);

static enum ptc_flow_edge_is edge(uint64_t from, uint64_t to, uint8_t type, bool *next)
{
	const struct ptc_branch e = { .from = CODE + from, .to = CODE + to, .type = type };

	return ptc_flow_code_edge(&as, &e, true, next);
}

Test(flow_code, edges)
{
	bool next;

	cr_assert_eq(edge(1, 6, 0, &next), PTC_FLOW_EDGE_POSSIBLE);
	cr_assert_not(next);
	cr_assert_eq(edge(1, 3, 0, &next), PTC_FLOW_EDGE_TARGET);
	cr_assert_eq(edge(4, 0, PERF_BR_UNCOND, &next), PTC_FLOW_EDGE_POSSIBLE);
	cr_assert_eq(edge(4, 0, PERF_BR_RET, &next), PTC_FLOW_EDGE_TYPE);
	cr_assert_eq(edge(8, 12345, PERF_BR_IND, &next), PTC_FLOW_EDGE_POSSIBLE);
	cr_assert_eq(edge(0, 6, 0, &next), PTC_FLOW_EDGE_SOURCE);
	cr_assert_eq(edge(13, 6, 0, &next), PTC_FLOW_EDGE_SOURCE);
	cr_assert_eq(edge(0x100, 6, 0, &next), PTC_FLOW_EDGE_NO_CODE);
	cr_assert_eq(edge(10, 12, 0, &next), PTC_FLOW_EDGE_POSSIBLE);
	cr_assert(next);
}

Test(flow_code, any_instruction_can_abort_a_transaction)
{
	const struct ptc_branch e = { .from = CODE, .to = CODE + 6, .abort = true };
	bool next;

	cr_assert_eq(ptc_flow_code_edge(&as, &e, false, &next), PTC_FLOW_EDGE_POSSIBLE);
}

static enum ptc_flow_link_is leads(uint64_t to, uint64_t from)
{
	uint64_t work = 0;
	const enum ptc_flow_link_is is = ptc_flow_code_link(&as, CODE + to, CODE + from, &work);

	cr_assert(work && work <= PTC_FLOW_STEPS);
	return is;
}

Test(flow_code, links)
{
	cr_assert_eq(leads(0, 0), PTC_FLOW_LINKED);
	cr_assert_eq(leads(0, 1), PTC_FLOW_LINKED);
	cr_assert_eq(leads(0, 4), PTC_FLOW_LINKED, "a jcc that is not taken");
	cr_assert_eq(leads(0, 2), PTC_FLOW_BROKEN, "inside an instruction");
	cr_assert_eq(leads(0, 8), PTC_FLOW_BROKEN, "behind a jump");
	cr_assert_eq(leads(3, 1), PTC_FLOW_BROKEN, "backwards");
	cr_assert_eq(leads(6, 8), PTC_FLOW_LINKED, "behind a system call");
	cr_assert_eq(leads(6, 0), PTC_FLOW_KERNEL, "a system call may be sigreturn");
	cr_assert_eq(leads(13, 0), PTC_FLOW_BROKEN);
	cr_assert_eq(leads(0x200, 0), PTC_FLOW_NO_CODE);
}

Test(flow_code, all_work_is_bounded)
{
	uint64_t work = PTC_FLOW_WORK;

	cr_assert_eq(ptc_flow_code_link(&as, CODE, CODE + 1, &work), PTC_FLOW_NO_CODE);
	cr_assert_eq(work, (uint64_t)PTC_FLOW_WORK);
}
