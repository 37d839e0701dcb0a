/* SPDX-License-Identifier: MIT */
/*
 * Description: the report of AddressSanitizer is found by its address on the stack. Damaged memory
 * gives no report, and no reading beyond the memory.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "arch/asan_report.h"
#include "lib_memory.h"

enum { STACK = 0x50000, REPORT = 0x60000 };

#define FRONT	    "=================================================================\n"
#define STACK_LINES "    #0 0x55 in heap a.c:5\n    #1 0x56 in main a.c:9\n\n"

static const char overflow[] = FRONT
	"==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x604000000038 at pc 0x5\n"
	"READ of size 4 at 0x604000000038 thread T0\n" STACK_LINES
	"0x604000000038 is located 0 bytes after 40-byte region [0x604000000010,0x604000000038)\n"
	"allocated by thread T0 here:\n" STACK_LINES
	"SUMMARY: AddressSanitizer: heap-buffer-overflow a.c:5:53 in heap\n"
	"0x1 is located behind the summary\n";

static struct mm_memory reported(const char *text)
{
	uint64_t stack[128] = { 0, REPORT + 8, 7 };
	struct mm_memory m = { .n = 0 };

	stack[100] = REPORT;
	mm_words(&m, STACK, stack, 128);
	mm_add(&m, REPORT, text, strlen(text) + 1);
	return m;
}

Test(asan_report, a_report_is_found_on_the_stack_with_its_kind_and_statements)
{
	struct mm_memory m = reported(overflow);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_asan_report r;
	uint64_t at = 0;

	cr_assert(ptc_asan_report_find(&v, STACK + 3, &at));
	cr_assert_eq(at, REPORT);
	cr_assert(ptc_asan_report_read(&v, at, &r));
	cr_assert_str_eq(r.kind, "heap-buffer-overflow");
	cr_assert_str_eq(r.text, "READ of size 4 at 0x604000000038 thread T0; 0x604000000038 is "
				 "located 0 bytes after 40-byte region "
				 "[0x604000000010,0x604000000038)");
	cr_assert_not(r.text_cut);
	cr_assert_not(ptc_asan_report_find(&v, STACK + 101 * 8, &at));
	mm_release(&m);
}

Test(asan_report, a_report_without_statements_has_the_first_line)
{
	static const char twice[] = FRONT
		"\033[1m\033[31m==9==ERROR: AddressSanitizer: attempting double-free on 0x6 in "
		"thread T0:\n\033[1m\033[0m" STACK_LINES "SUMMARY: AddressSanitizer: double-free x "
		"in free\n";
	static const char bare[] = FRONT "==9==ERROR: AddressSanitizer: SEGV on unknown address\n";
	struct mm_memory m = reported(twice);
	struct ptc_memory_view v = mm_view(&m);
	struct ptc_asan_report r;

	cr_assert(ptc_asan_report_read(&v, REPORT, &r));
	cr_assert_str_eq(r.kind, "double-free");
	cr_assert_str_eq(r.text, "attempting double-free on 0x6 in thread T0");
	mm_release(&m);
	m = reported(bare);
	v = mm_view(&m);
	cr_assert(ptc_asan_report_read(&v, REPORT, &r));
	cr_assert_str_eq(r.kind, "SEGV");
	cr_assert_str_eq(r.text, "on unknown address");
	mm_release(&m);
}

Test(asan_report, a_signal_has_its_cause)
{
	static const char text[] = FRONT
		"==9==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x5)\n"
		"==9==The signal is caused by a WRITE memory access.\n"
		"==9==Hint: address points to the zero page.\n" STACK_LINES
		"SUMMARY: AddressSanitizer: SEGV a.c:5 in main\n";
	struct mm_memory m = reported(text);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_asan_report r;

	cr_assert(ptc_asan_report_read(&v, REPORT, &r));
	cr_assert_str_eq(r.kind, "SEGV");
	cr_assert_str_eq(r.text, "on unknown address 0x0 (pc 0x5); The signal is caused by a WRITE "
				 "memory access.");
	mm_release(&m);
}

Test(asan_report, other_texts_are_none)
{
	static const char *const none[] = {
		"",
		"=\n==9==ERROR: AddressSanitizer: SEGV\n",
		FRONT,
		FRONT "==9==ERROR: LeakSanitizer: detected memory leaks\n",
		FRONT "==9==\nERROR: AddressSanitizer: SEGV\n",
		FRONT "==9==ERROR: AddressSanitizer: ",
		FRONT "==9==ERROR: AddressSanitizer: \001\n",
	};
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct mm_memory m = reported(none[i]);
		const struct ptc_memory_view v = mm_view(&m);
		uint64_t at;

		cr_assert_not(ptc_asan_report_find(&v, STACK, &at), "%zu", i);
		mm_release(&m);
	}
}

Test(asan_report, a_report_that_is_cut_anywhere_has_less_or_is_none)
{
	struct mm_memory m = reported(overflow);
	size_t len;

	for (len = sizeof(overflow); len-- > 0;) {
		const struct ptc_memory_view v = mm_view(&m);
		struct ptc_asan_report r;

		mm_cut(&m, 1, len);
		if (ptc_asan_report_read(&v, REPORT, &r))
			cr_assert(strstr(overflow, r.kind));
	}
	mm_release(&m);
}

Test(asan_report, a_report_of_statements_alone_ends)
{
	static char text[64 << 10] = FRONT "==9==ERROR: AddressSanitizer: x\n";
	struct ptc_asan_report r;
	struct ptc_memory_view v;
	struct mm_memory m;
	size_t len;

	for (len = strlen(text); len + 10 < sizeof(text); len += 9)
		(void)snprintf(text + len, sizeof(text) - len, "READ of \n");
	m = reported(text);
	v = mm_view(&m);
	m.reads = 0;
	cr_assert(ptc_asan_report_read(&v, REPORT, &r));
	cr_assert(r.text_cut && strlen(r.text) == PTC_ASAN_TEXT - 1);
	cr_assert_lt(m.reads, 100);
	mm_release(&m);
}
