/* SPDX-License-Identifier: MIT */
/* Description: instructions between two addresses of code. The counts per thread: e2e_icount_*. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/session/insn_counter.h"

enum { BASE = 0x1000 };

/* push %rbp; mov %rsp,%rbp; lea 8(%rbp),%eax; inc %eax (32-bit: inc; dec); ret */
static const uint8_t text[] = { 0x55, 0x48, 0x89, 0xe5, 0x67, 0x8d, 0x45, 0x08, 0xff, 0xc0, 0xc3 };

struct world {
	struct ptc_codefiles files;
	struct ptc_addrspace as;
};

static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	cr_assert(ptc_addrspace_map(&w->as, BASE, sizeof(text), 0,
				    ptc_codefiles_add_bytes(&w->files, "a", text, sizeof(text))));
}

static void end(struct world *w)
{
	ptc_addrspace_release(&w->as);
	ptc_codefiles_release(&w->files);
}

Test(insn_counter, counts_the_instructions_up_to_an_address)
{
	struct world w;

	begin(&w);
	cr_assert_eq(ptc_insn_count(&w.as, BASE, BASE + 10, false), 5);
	cr_assert_eq(ptc_insn_count(&w.as, BASE, BASE + 10, true), 4);
	cr_assert_eq(ptc_insn_count(&w.as, BASE + 4, BASE + 8, false), 2);
	cr_assert_eq(ptc_insn_count(&w.as, BASE + 10, BASE + 10, false), 1);
	cr_assert_eq(ptc_insn_count(&w.as, BASE + 10, BASE + 10, true), 0);
	end(&w);
}

Test(insn_counter, of_code_that_leads_elsewhere_has_no_count)
{
	struct world w;

	begin(&w);
	cr_assert_eq(ptc_insn_count(&w.as, BASE, BASE + 5, false), 0, "inside of an instruction");
	cr_assert_eq(ptc_insn_count(&w.as, BASE + 10, BASE, false), 0, "backwards");
	cr_assert_eq(ptc_insn_count(&w.as, BASE, BASE + 20, false), 0, "behind the code");
	cr_assert_eq(ptc_insn_count(&w.as, 0x9000, 0x9010, false), 0, "no code");
	cr_assert_eq(ptc_insn_count(&w.as, BASE, UINT64_MAX, false), 0, "too far");
	end(&w);
}

Test(insn_counter, takes_what_an_item_can_hold)
{
	uint64_t pending = (uint64_t)UINT32_MAX + 7;

	cr_assert_eq(ptc_insn_counter_take(&pending), UINT32_MAX);
	cr_assert_eq(ptc_insn_counter_take(&pending), 7);
	cr_assert_eq(pending, 0);
}
