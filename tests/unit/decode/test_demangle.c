/* SPDX-License-Identifier: MIT */
/* Description: linker names of functions, and names as people write them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ptcap/lookup.h"

/* @want NULL: the name stays as it is. */
static void expect(const char *name, const char *want)
{
	char *have = ptc_demangle(name);

	cr_assert(want ? have && !strcmp(have, want) : !have, "%s: %s, not %s", name,
		  have ? have : "(as it is)", want ? want : "(as it is)");
	free(have);
}

Test(demangle, cplusplus_has_parameters_and_no_type_that_is_returned)
{
	expect("_ZNK5names5shape4areaEi", "names::shape::area(int) const");
	expect("_ZN1n5twiceImEET_S1_", "n::twice<unsigned long>(unsigned long)");
	expect("_Znwm", "operator new(unsigned long)");
	expect("_Z3foov.cold", "foo() [clone .cold]");
}

Test(demangle, rust_of_both_ways_is_without_its_hash)
{
	expect("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	expect("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

Test(demangle, what_is_behind_an_at_stays_but_for_the_usual_version)
{
	expect("_Znwm@plt", "operator new(unsigned long)@plt");
	expect("memcpy@@GLIBC_2.14", "memcpy");
	expect("_Znwm@@GLIBCXX_3.4", "operator new(unsigned long)");
	expect("memcpy@GLIBC_2.2.5", NULL);
	expect("puts@plt", NULL);
}

Test(demangle, other_names_stay_as_they_are)
{
	static const char *const names[] = { "main", "_start",	 "_Zebra_",	"_R",
					     "_Z",   "_DYNAMIC", "_ReadMemory", "" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i], NULL);
}

Test(demangle, a_name_that_is_cut_or_too_long_does_no_harm)
{
	static const char name[] = "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__"
				   "normal_iteratorIPiS1_EEDpOT_";
	char *cut, *have;
	size_t n;

	for (n = 0; n < sizeof(name); n++) {
		cut = strndup(name, n);
		cr_assert_not_null(cut);
		free(ptc_demangle(cut));
		free(cut);
	}
	cut = malloc(1 << 20);
	cr_assert_not_null(cut);
	memset(cut, 'P', 1 << 20);
	memcpy(cut, "_Z1f", 4);
	cut[(1 << 20) - 1] = '\0';
	have = ptc_demangle(cut);
	cr_assert_null(have);
	free(cut);
}
