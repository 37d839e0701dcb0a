/* SPDX-License-Identifier: MIT */
/* Description: taken jccs to the next instruction are right in a stack where their code ran. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/lbr/jcc_to_next.h"
#include "ptcap/kind.h"

enum { N = 4, CODE = 0x1000 };

/* At 0x1000: cmp; je +0; nop; at 0x1005: jmp to 0x1000. */
static const uint8_t text[] = { 0x39, 0xc0, 0x74, 0x00, 0x90, 0xeb, 0xf9 };

struct fixture {
	struct ptc_codefiles files;
	struct ptc_addrspace as;
	struct ptc_branch entries[N];
	struct ptc_align_entry verdicts[N];
	struct ptc_step steps[N];
	struct ptc_align_in in;
	struct ptc_wants wants;
	struct ptc_onward onward;
};

/* The loop runs N times. */
static void init(struct fixture *x)
{
	size_t i;

	memset(x, 0, sizeof(*x));
	cr_assert(ptc_addrspace_map(&x->as, CODE, sizeof(text), 0,
				    ptc_codefiles_add_bytes(&x->files, "a", text, sizeof(text))));
	for (i = 0; i < N; i++)
		x->steps[i] =
			(struct ptc_step){ .from = CODE + 5, .to = CODE, .kind = PTC_KIND_JMP };
	x->wants = (struct ptc_wants){ .kinds = UINT64_MAX, .user = true };
	x->in.entries = x->entries;
}

static void end(struct fixture *x)
{
	ptc_addrspace_release(&x->as);
	ptc_codefiles_release(&x->files);
}

/* Entries are the jmp ('j') and the jcc ('c') by @kinds, the newest first. Returns the verdicts. */
static const char *judge(struct fixture *x, const char *kinds)
{
	static char said[N + 1];
	size_t i, at = N - 1, n = strlen(kinds);

	for (i = 0; i < n; i++)
		x->entries[i] = kinds[i] == 'j' ?
					(struct ptc_branch){ .from = CODE + 5, .to = CODE } :
					(struct ptc_branch){ .from = CODE + 2, .to = CODE + 4 };
	x->in.n = ptc_onward_take(&x->onward, &x->as, x->entries, n);
	for (i = 0; i < x->in.n; i++)
		x->verdicts[i] = (struct ptc_align_entry){ .step = at-- };
	ptc_onward_put(&x->onward, &x->in, &x->wants, x->steps, N, x->entries, x->verdicts);
	for (i = 0; i < n; i++) {
		cr_assert_eq(x->entries[i].from, (uint64_t)(kinds[i] == 'j' ? CODE + 5 : CODE + 2));
		said[i] = x->verdicts[i].verdict == PTC_VERDICT_EXACT  ? 'e' :
			  x->verdicts[i].verdict == PTC_VERDICT_ABSENT ? 'a' :
			  x->verdicts[i].verdict == PTC_VERDICT_CLASS  ? 'f' :
									 '?';
	}
	said[n] = '\0';
	return said;
}

Test(jcc_to_next, they_are_exact_where_their_code_ran)
{
	struct fixture x;

	init(&x);
	cr_assert_str_eq(judge(&x, "cjcj"), "eeee");
	cr_assert_str_eq(judge(&x, "jcjc"), "eeee");
	cr_assert_str_eq(judge(&x, "jjjj"), "eeee");
	end(&x);
}

Test(jcc_to_next, they_are_not_in_the_trace_where_it_did_not)
{
	struct fixture x;
	size_t i;

	init(&x);
	for (i = 0; i < N; i++)
		x.steps[i].to = CODE + 4; /* behind the jcc */
	cr_assert_str_eq(judge(&x, "cjcj"), "aeae");
	end(&x);
}

Test(jcc_to_next, a_filter_that_excludes_conditional_branches_excludes_them)
{
	struct fixture x;

	init(&x);
	x.wants.kinds = UINT64_C(1) << PTC_KIND_JMP;
	cr_assert_str_eq(judge(&x, "jcj"), "efe");
	end(&x);
}

Test(jcc_to_next, alone_they_are_not_judged)
{
	struct fixture x;

	init(&x);
	cr_assert_str_eq(judge(&x, "cc"), "??");
	end(&x);
}
