/* SPDX-License-Identifier: MIT */
/* Description: texts like /proc/cpuinfo become kinds of processors, whole and with missing lines.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/processor_kinds.h"

#define CPU(n, model, stepping, microcode)                                                         \
	"processor\t: " n "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " model        \
	"\nmodel name\t: A CPU 77\nstepping\t: " stepping "\nmicrocode\t: " microcode              \
	"\nflags\t\t: fpu\n\n"

static struct ptc_processor_kinds kinds_of(const char *text)
{
	struct ptc_processor_kinds k = { .n = 0 };
	char *exact = strdup(text);

	cr_assert(exact && ptc_processor_kinds_parse(&k, exact));
	free(exact);
	return k;
}

static void expect(const struct ptc_processor_kinds *k, size_t i,
		   const struct ptc_ledger_processor *want)
{
	cr_assert(i < k->n && !memcmp(&k->items[i], want, sizeof(*want)), "kind %zu of %zu", i,
		  k->n);
}

Test(processor_kinds, equal_cpus_are_one_kind)
{
	struct ptc_processor_kinds k =
		kinds_of(CPU("0", "158", "10", "0xf8") CPU("1", "158", "10", "0xf8"));

	cr_assert_eq(k.n, 1);
	expect(&k, 0, &(struct ptc_ledger_processor){ 0, 2, 6, 158, 10, 0xf8 });
	ptc_processor_kinds_release(&k);
	cr_assert(!k.n && !k.items);
}

Test(processor_kinds, another_model_or_microcode_is_another_kind)
{
	struct ptc_processor_kinds k = kinds_of(CPU("0", "151", "2", "0x2c") CPU(
		"3", "190", "0", "0x2c") CPU("4", "151", "2", "0x2c") CPU("5", "151", "2", "0x2d"));

	cr_assert_eq(k.n, 3);
	expect(&k, 0, &(struct ptc_ledger_processor){ 0, 2, 6, 151, 2, 0x2c });
	expect(&k, 1, &(struct ptc_ledger_processor){ 3, 1, 6, 190, 0, 0x2c });
	expect(&k, 2, &(struct ptc_ledger_processor){ 5, 1, 6, 151, 2, 0x2d });
	ptc_processor_kinds_release(&k);
}

Test(processor_kinds, missing_and_empty_values_are_0)
{
	struct ptc_processor_kinds k =
		kinds_of("processor\t: 4\nmicrocode\t: \n7\nmodel\t: \nstepping:5\ncpu family");

	cr_assert_eq(k.n, 1);
	expect(&k, 0, &(struct ptc_ledger_processor){ 4, 1, 0, 0, 0, 0 });
	ptc_processor_kinds_release(&k);
}

Test(processor_kinds, without_a_processor_there_is_none)
{
	struct ptc_processor_kinds k = kinds_of("");

	cr_assert_eq(k.n, 0);
	cr_assert(ptc_processor_kinds_parse(&k, "microcode\t: 0x1\nmodel\t: 4\n"));
	cr_assert_eq(k.n, 0);
	cr_assert(ptc_processor_kinds_read(&k, "/proc/self/fdinfo"));
	cr_assert_eq(k.n, 0, "the file does not exist");
}

Test(processor_kinds, cut_at_every_length_it_is_read)
{
	static const char text[] = CPU("0", "158", "10", "0xf8") CPU("1", "158", "10", "0xf8");
	size_t len;

	for (len = 0; len < sizeof(text); len++) {
		struct ptc_processor_kinds k = { .n = 0 };
		char *cut = strndup(text, len);

		cr_assert(cut && ptc_processor_kinds_parse(&k, cut));
		cr_assert_leq(k.n, 2);
		ptc_processor_kinds_release(&k);
		free(cut);
	}
}

Test(processor_kinds, of_this_machine)
{
	struct ptc_processor_kinds k = { .n = 0 };

	cr_assert(ptc_processor_kinds_read(&k, ""));
	cr_assert(k.n && k.items[0].cpus && k.items[0].family);
	ptc_processor_kinds_release(&k);
}
