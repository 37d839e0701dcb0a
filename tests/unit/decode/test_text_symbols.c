/* SPDX-License-Identifier: MIT */
/* Description: names by address and time, and the text files that they come from. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "decode/image/text_symbols.h"

static const char *at(const struct ptc_text_symbols *t, uint64_t ip, uint64_t time,
		      uint64_t want_off)
{
	uint64_t off = want_off;
	const char *name = ptc_text_symbols_find(t, ip, time, &off);

	cr_assert_eq(off, want_off);
	return name ? name : "";
}

Test(text_symbols, the_newest_that_holds_the_address_at_that_time)
{
	struct ptc_text_symbols t = { .n = 0 };

	cr_assert(ptc_text_symbols_add(&t, 0x120, 0x10, 5, "small", 5));
	cr_assert(ptc_text_symbols_add(&t, 0x100, 0x100, 9, "largest", 5));
	cr_assert(ptc_text_symbols_add(&t, 0x120, 0x10, 7, "again", 5));
	ptc_text_symbols_sort(&t);
	cr_assert_str_eq(at(&t, 0x128, 4, 0), "");
	cr_assert_str_eq(at(&t, 0x128, 6, 8), "small");
	cr_assert_str_eq(at(&t, 0x128, 8, 8), "again");
	cr_assert_str_eq(at(&t, 0x128, 9, 0x28), "large");
	cr_assert_str_eq(at(&t, 0x130, 8, 0), "");
	cr_assert_str_eq(at(&t, 0x1ff, UINT64_MAX, 0xff), "large");
	cr_assert_str_eq(at(&t, 0x200, UINT64_MAX, 0), "");
	cr_assert_str_eq(at(&t, 0xff, UINT64_MAX, 0), "");
	ptc_text_symbols_release(&t);
	cr_assert_str_eq(at(&t, 0x128, 9, 0), "");
}

/* A JIT may reuse an address any number of times. */
Test(text_symbols, code_that_comes_to_the_same_address_often_has_the_name_of_its_time)
{
	struct ptc_text_symbols t = { .n = 0 };
	char name[16];
	uint64_t i;

	for (i = 1; i <= 1000; i++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned int)i);
		cr_assert(ptc_text_symbols_add(&t, 0x100, 0x10, i, name, strlen(name)));
	}
	ptc_text_symbols_sort(&t);
	cr_assert_str_eq(at(&t, 0x108, 1, 8), "n1");
	cr_assert_str_eq(at(&t, 0x108, 500, 8), "n500");
	cr_assert_str_eq(at(&t, 0x108, 5000, 8), "n1000");
	cr_assert_str_eq(at(&t, 0x108, 0, 0), "");
	ptc_text_symbols_release(&t);
}

Test(text_symbols, kallsyms_has_functions_that_reach_up_to_the_next)
{
	struct ptc_text_symbols t = { .n = 0 };

	cr_assert(ptc_text_symbols_kallsyms(
		&t, "ffffffff81000000 T _text\n"
		    "ffffffff81000000 T startup_64\n"
		    "ffffffff81000040 t next\t[mod]\n"
		    "ffffffff81000050 d data\n"
		    "0000000000000000 T hidden\n"
		    "no address\n\nffffffff81000060\nffffffff81000070 W last"));
	ptc_text_symbols_sort(&t);
	cr_assert_eq(t.n, 4);
	cr_assert_str_eq(at(&t, 0xffffffff8100003f, 0, 0x3f), "startup_64");
	cr_assert_str_eq(at(&t, 0xffffffff81000050, 0, 0x10), "next");
	cr_assert_str_eq(at(&t, 0xffffffff81000071, 0, 1), "last");
	cr_assert_eq(ptc_text_symbols_addr(&t, "_text"), 0xffffffff81000000);
	cr_assert_eq(ptc_text_symbols_addr(&t, "nothing"), 0);
	ptc_text_symbols_release(&t);
}

Test(text_symbols, a_perf_map_s_names_may_have_blanks_and_its_lines_may_be_anything)
{
	struct ptc_text_symbols t = { .n = 0 };

	cr_assert(ptc_text_symbols_perf_map(
		&t, "1000 10 void f(int, int)\n"
		    "0x2000 10 prefix\n2000 0 empty\n2000 10\n2000 10 \n 2000 10 x\n"
		    "2000 zz bad\n-1 10 negative\n"
		    "ffffffffffffffffffffff 10 too much\n3000 10 last"));
	ptc_text_symbols_sort(&t);
	cr_assert_str_eq(at(&t, 0x1004, 0, 4), "void f(int, int)");
	cr_assert_str_eq(at(&t, 0x2004, 0, 4), "prefix");
	cr_assert_str_eq(at(&t, 0x300f, 0, 15), "last");
	cr_assert_eq(t.n, 3);
	ptc_text_symbols_release(&t);
}

Test(text_symbols, a_name_that_is_lent_is_not_copied)
{
	struct ptc_text_symbols t = { .n = 0 };
	const char name[] = "lent";
	uint64_t off;

	cr_assert(ptc_text_symbols_lend(&t, 0x100, 0x10, 1, name));
	cr_assert(ptc_text_symbols_lend(&t, 0x100, 0x10, 1, name));
	cr_assert(ptc_text_symbols_add(&t, 0x200, 0x10, 1, "own", 3));
	ptc_text_symbols_sort(&t);
	cr_assert_eq(ptc_text_symbols_find(&t, 0x108, 2, &off), name);
	cr_assert_eq(off, 8);
	cr_assert_str_eq(ptc_text_symbols_find(&t, 0x200, 2, &off), "own");
	ptc_text_symbols_release(&t);
}
