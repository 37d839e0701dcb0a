/* SPDX-License-Identifier: MIT */
/* Description: values of a Go panic are printed as Go prints them, and names of types are read. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/go_panic.h"
#include "decode/crash/go_message.h"
#include "decode/symbols/go_runtime.h"

static void is_printed(uint64_t kind, const void *value, size_t len, const char *type,
		       const char *want)
{
	struct ptc_go_panic p = { .kind = kind, .addr = 0xc000012345, .text = "boom" };
	char got[128];

	memcpy(p.value, value, len);
	cr_assert(ptc_go_message_text(&p, type, got, sizeof(got)));
	cr_assert_str_eq(got, want);
}

/* Go 1.19 and 1.24 print these texts. */
Test(go_message, values_are_printed_as_go_prints_them)
{
	static const int64_t number = -3;
	static const uint64_t big = UINT64_MAX;
	static const double eighth = 2.5, tiny = -1e-300, zero = 0, both[2] = { 1, -2 };
	static const float narrow[2] = { 1.5F, 0.25F };
	static const double inf = HUGE_VAL;

	is_printed(PTC_GO_NIL, "", 0, "", "nil");
	is_printed(PTC_GO_BOOL, "\1", 1, "bool", "true");
	is_printed(PTC_GO_BOOL, "", 1, "main.flag", "main.flag(false)");
	is_printed(PTC_GO_INT, &number, 8, "int", "-3");
	is_printed(PTC_GO_INT8, &number, 1, "int8", "-3");
	is_printed(PTC_GO_INT16, &number, 2, "int16", "-3");
	is_printed(PTC_GO_INT32, &number, 4, "main.code", "main.code(-3)");
	is_printed(PTC_GO_UINT8, &big, 1, "uint8", "255");
	is_printed(PTC_GO_UINT64, &big, 8, "uint64", "18446744073709551615");
	is_printed(PTC_GO_FLOAT64, &eighth, 8, "float64", "+2.500000e+000");
	is_printed(PTC_GO_FLOAT64, &tiny, 8, "float64", "-1.000000e-300");
	is_printed(PTC_GO_FLOAT64, &zero, 8, "float64", "+0.000000e+000");
	is_printed(PTC_GO_FLOAT64, &inf, 8, "float64", "+Inf");
	is_printed(PTC_GO_FLOAT32, narrow, 4, "float32", "+1.500000e+000");
	is_printed(PTC_GO_COMPLEX64, narrow, 8, "complex64", "(+1.500000e+000+2.500000e-001i)");
	is_printed(PTC_GO_COMPLEX128, both, 16, "complex128", "(+1.000000e+000-2.000000e+000i)");
	is_printed(PTC_GO_STRING, "", 0, "string", "boom");
	is_printed(PTC_GO_STRING, "", 0, "main.named", "main.named(\"boom\")");
	is_printed(25, "", 0, "main.pair", "(main.pair) 0xc000012345");
}

Test(go_message, a_text_that_does_not_fit_is_cut)
{
	const struct ptc_go_panic p = { .kind = PTC_GO_STRING, .text = "boom" };
	char got[4];

	cr_assert_not(ptc_go_message_text(&p, "string", got, sizeof(got)));
	cr_assert_str_eq(got, "boo");
}

static bool name_of(const char *bytes, size_t len, char *ret, size_t size)
{
	uint8_t *copy = malloc(len ? len : 1);
	bool ok;

	cr_assert_not_null(copy);
	memcpy(copy, bytes, len);
	ok = ptc_go_runtime_name(ptc_cur_init(copy, len), ret, size);
	free(copy);
	return ok;
}

Test(go_message, a_name_is_read_and_one_that_is_cut_anywhere_is_none)
{
	static const char bytes[] = "\1\5*main", long_length[] = "\1\x85\0*main";
	char got[16];
	size_t len;

	cr_assert(name_of(bytes, 7, got, sizeof(got)));
	cr_assert_str_eq(got, "*main");
	cr_assert(name_of(long_length, 8, got, sizeof(got)));
	cr_assert_str_eq(got, "*main");
	cr_assert(name_of(bytes, 7, got, 3));
	cr_assert_str_eq(got, "*m");
	for (len = 0; len < 7; len++)
		cr_assert_not(name_of(bytes, len, got, sizeof(got)), "%zu", len);
	cr_assert_not(name_of("\1\0x", 3, got, sizeof(got)));
	cr_assert_not(name_of("\1\xff\xff\xff\xff\xff\xff\xff\xff", 9, got, sizeof(got)));
	cr_assert_not(name_of("\1\2\1x", 4, got, sizeof(got)));
}
