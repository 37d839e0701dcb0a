/* SPDX-License-Identifier: MIT */
/*
 * Description: the functions in the signature of a crash do not depend on the depth of a recursion.
 * A function is one letter.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/crash/signature_list.h"

/* Returns the functions of a stack in the order of the signature. */
static void check(const char *stack, bool overflow, const char *want)
{
	struct ptc_signature_list l = { .n = 0 };
	char have[64] = "";
	size_t i;

	for (i = 0; stack[i]; i++) {
		const size_t id = ptc_signature_list_intern(&l, strndup(stack + i, 1));

		cr_assert_lt(id, l.n);
		ptc_signature_list_append(&l, id);
	}
	ptc_signature_list_finish(&l, overflow);
	for (i = 0; i < l.n; i++)
		have[i] = l.items[i].text[0];
	cr_assert_str_eq(have, want, "%s: %s, not %s", stack, have, want);
	ptc_signature_list_release(&l);
}

Test(signature_list, a_stack_without_recursion_keeps_its_order)
{
	check("", false, "");
	check("f", false, "f");
	check("fzam", false, "fzam");
}

Test(signature_list, a_function_that_calls_itself_counts_once)
{
	check("frm", false, "frm");
	check("frrrrrrrm", false, "frm");
	check("rrrrm", false, "rm");
}

Test(signature_list, functions_of_a_circle_have_one_order_at_each_depth)
{
	check("fzazam", false, "fazm");
	check("fazazam", false, "fazm");
	check("fzazcazm", false, "faczm");
	check("fxzazay", false, "fxazy");
	check("fzabzqaqm", false, "fabqzm");
}

Test(signature_list, the_innermost_function_stays_first)
{
	check("zazam", false, "zam");
	check("azazam", false, "azm");
	check("zbaczm", false, "zabcm");
}

Test(signature_list, an_exhausted_stack_has_the_functions_of_the_recursion)
{
	check("frrrrrrrrm", true, "r");
	check("frrrm", true, "r");
	check("zazazazam", true, "az");
	check("fqazazazaxm", true, "az");
	check("cbacbacbacbam", true, "abc");
}

Test(signature_list, an_exhausted_stack_without_recursion_has_all_functions)
{
	check("fgm", true, "fgm");
	check("frrm", true, "frm");
	check("", true, "");
}

Test(signature_list, a_function_without_text_is_a_failure)
{
	struct ptc_signature_list l = { .n = 0 };

	cr_assert_eq(ptc_signature_list_intern(&l, NULL), SIZE_MAX);
	ptc_signature_list_release(&l);
}
